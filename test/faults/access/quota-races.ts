import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { tenantRegistry } from '../../../src/auth/tenant-registry.ts';
import { byPath, FlightClient } from '../../support/flight-client.ts';
import { ask } from '../../support/http-client.ts';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { bearer, ClosedServers } from './closed-servers.ts';

const writers = 8;
/** So often each writer is refused before it gives up. */
const refusals = 3;
const smallest = 'a\n1\n';

/** T5: writers at two servers race for the last room of a tenant, and one of the servers may be killed meanwhile. */
export const quotaRaces: Scenario = {
  id: 'T5',
  promise:
    'a tenant never holds a frame or a byte more than it may, and all that it may, whoever writes at whichever server',
  rounds: { ci: 2, release: 200 },
  secondsPerRound: 40,
  async run({ rounds, size, random, progress }: Trial) {
    await using servers = await ClosedServers.start(2);
    const counts = { acks: 0, refused: 0, kills: 0 };
    for (let round = 0; round < rounds; round++) {
      const isFrames = round % 2 === 0;
      const limit = isFrames ? random.between(3, 15) : random.between(2000, 20_000);
      const race = await QuotaRace.begin(servers, `t${round}`, isFrames ? 'frames' : 'bytes', limit);
      await race.fill(random);
      await race.assertFull();
      const isKilled = size === 'release' && random.chance(0.3);
      await Promise.all([race.churn(random, 15), isKilled && servers.restart(random.between(0, 1))]);
      await race.assertWithin();
      await race.fill(random);
      await race.assertFull();
      counts.acks += race.acks;
      counts.refused += race.refused;
      counts.kills += Number(isKilled);
      if (round % 10 === 9) progress(`${round + 1} races, ${counts.acks} writes acknowledged`);
    }
    return { races: rounds, ...counts, 'frames or bytes beyond': 0 };
  },
};

type Verb = 'create' | 'overwrite' | 'append';
/** The code of the error; undefined where the answer did not come. */
type Outcome = 'done' | string | undefined;

class QuotaRace {
  readonly #servers: ClosedServers;
  readonly #headers: { readonly authorization: string };
  readonly #what: 'frames' | 'bytes';
  readonly #limit: number;
  #made = 0;
  /** That the smallest frame takes. */
  #least = 0;
  acks = 0;
  refused = 0;

  private constructor(servers: ClosedServers, token: string, what: 'frames' | 'bytes', limit: number) {
    this.#servers = servers;
    this.#headers = bearer(token);
    this.#what = what;
    this.#limit = limit;
  }

  static async begin(
    servers: ClosedServers,
    tenant: string,
    what: 'frames' | 'bytes',
    limit: number,
  ): Promise<QuotaRace> {
    const change = what === 'frames' ? { max_frames: limit } : { max_bytes: limit };
    await tenantRegistry(servers.records).create(tenant, change);
    const { token } = await servers.makeToken({ role: 'write', tenant });
    const race = new QuotaRace(servers, token, what, limit);
    await put(servers.at(0), `f${++race.#made}`, race.#headers, smallest);
    race.#least = await race.#held(servers.at(0));
    return race;
  }

  /** New frames and appends, until each writer was refused again and again. */
  async fill(random: Random): Promise<void> {
    const fill = async (mine: Random): Promise<void> => {
      for (let refused = 0; refused < refusals; ) {
        const verb = this.#what === 'bytes' && mine.chance(0.3) && this.#made > 0 ? 'append' : 'create';
        const handle = verb === 'append' ? `f${mine.between(1, this.#made)}` : `f${++this.#made}`;
        const outcome = await this.#write(mine.pick(this.#servers.all), verb, handle, mine);
        if (outcome === 'quota_exceeded') refused += 1;
      }
    };
    await Promise.all(Array.from({ length: writers }, () => fill(random.fork())));
  }

  /** Drops, overwrites and appends at once. */
  async churn(random: Random, count: number): Promise<void> {
    const churn = async (mine: Random): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const handle = `f${mine.between(1, this.#made)}`;
        const server = mine.pick(this.#servers.all);
        if (mine.chance(0.3)) await drop(server, handle, this.#headers).catch(() => {});
        else await this.#write(server, mine.pick(['create', 'overwrite', 'append']), handle, mine);
      }
    };
    await Promise.all(Array.from({ length: writers }, () => churn(random.fork())));
  }

  /** By the list of frames at both servers, once nothing is under way. */
  async assertWithin(): Promise<number> {
    const [one, other] = this.#servers.all;
    promised(one !== undefined && other !== undefined, 'both servers run');
    let held = 0;
    await until('both servers show the same frames', 10_000, async () => {
      const shown = await Promise.all([this.#held(one), this.#held(other)]);
      held = shown[0];
      return shown[0] === shown[1];
    });
    promised(held <= this.#limit, `a tenant holds at most ${this.#limit} ${this.#what}`, held);
    return held;
  }

  /** What is left of the room is not enough for the smallest frame. */
  async assertFull(): Promise<void> {
    await this.assertWithin();
    for (let isFull = false; !isFull; ) {
      const { code } = await put(this.#servers.at(0), `f${++this.#made}`, this.#headers, smallest);
      isFull = code === 'quota_exceeded';
      promised(isFull || code === undefined, 'a small frame is put, or refused for its quota', code);
    }
    const held = await this.assertWithin();
    promised(held + this.#least > this.#limit, `a tenant may hold all of its ${this.#limit} ${this.#what}`, held);
  }

  async #write(server: SpawnedFramehold, verb: Verb, handle: string, random: Random): Promise<Outcome> {
    const write = random.pick(doors);
    const outcome = await write(server, { verb, handle, headers: this.#headers, random }).catch(() => undefined);
    if (outcome === 'done') this.acks += 1;
    if (outcome === 'quota_exceeded') this.refused += 1;
    return outcome;
  }

  async #held({ url }: SpawnedFramehold): Promise<number> {
    const answer = await ask(`${url}/handles?limit=1000`, { headers: this.#headers });
    const { handles } = answer.json() as { handles: readonly { readonly bytes: { readonly cold: number } }[] };
    if (this.#what === 'frames') return handles.length;
    return handles.reduce((sum, { bytes }) => sum + bytes.cold, 0);
  }
}

interface Write {
  readonly verb: Verb;
  readonly handle: string;
  readonly headers: { readonly authorization: string };
  readonly random: Random;
}

const doors: readonly ((server: SpawnedFramehold, write: Write) => Promise<Outcome>)[] = [
  async (server, { verb, handle, headers, random }) => {
    const rows = Array.from({ length: random.between(1, 20) }, () => random.between(0, 1e9));
    const { code } = await put(server, handle, headers, `a\n${rows.join('\n')}\n`, verb);
    return code ?? 'done';
  },
  async ({ url }, { verb, handle, headers, random }) => {
    const sql = `select range::bigint a from range(${random.between(1, 20)})`;
    const body = JSON.stringify({ sql, keep: { handle, mode: verb } });
    const answer = await ask(`${url}/sql`, { method: 'POST', headers, body });
    return answer.status === 200 ? 'done' : String(answer.json().code);
  },
  async ({ grpcPort }, { verb, handle, headers, random }) => {
    using client = new FlightClient(grpcPort, headers);
    const rows = BigInt64Array.from({ length: random.between(1, 20) }, () => BigInt(random.between(0, 1e9)));
    const ipc = tableToIPC(tableFromArrays({ a: rows }), 'stream');
    const answer = await client.put(byPath(handle), ipc, { appMetadata: { mode: verb } });
    return answer.status.code === status.OK ? 'done' : answer.code;
  },
];

async function put(
  { url }: SpawnedFramehold,
  handle: string,
  headers: Write['headers'],
  body: string,
  verb: Verb = 'create',
): Promise<{ readonly code?: string }> {
  const mode = verb === 'create' ? '' : `&${verb}=true`;
  const answer = await ask(`${url}/imp?name=${handle}&fmt=json${mode}`, { method: 'POST', headers, body });
  return answer.status === 200 ? {} : { code: String(answer.json().code) };
}

async function drop({ url }: SpawnedFramehold, handle: string, headers: Write['headers']): Promise<void> {
  await ask(`${url}/handles/${handle}`, { method: 'DELETE', headers });
}
