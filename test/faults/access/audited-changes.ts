import { readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { byPath, FlightClient } from '../../support/flight-client.ts';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { makeTokens } from '../../support/tls-framehold.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { bearer } from './closed-servers.ts';

const writers = 6;
const arrow = tableToIPC(tableFromArrays({ a: [1] }), 'stream');

/** T7: servers are killed in the middle of changes, after their audit file was moved away or could not be written. */
export const auditedChanges: Scenario = {
  id: 'T7',
  promise:
    'every acknowledged change has one line in the audit file, also after kill -9; without the line it is refused',
  rounds: { ci: 2, release: 200 },
  secondsPerRound: 20,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    const { operator } = await makeTokens(join(dataDir, 'cold'));
    const changes = new Changes(operator);
    const file = join(directory.path, 'audit.jsonl');
    for (let round = 0; round < rounds; round++) {
      await using server = await spawnFramehold({ dataDir, flags: ['--auth-enabled', '--audit-file', file] });
      const work = Promise.all(
        Array.from({ length: writers }, (_, n) => changes.keepMaking(server, `w${n}`, random.fork())),
      );
      await changes.untilMore(random.between(10, 60));
      if (round % 3 === 1) await moveAway(server, file);
      if (round % 3 === 2) await cannotBeWritten(server, file, changes);
      if (round % 3 > 0) await changes.untilMore(random.between(1, 30));
      server.kill('SIGKILL');
      await work;
      await assertLines(directory.path, changes.acknowledged);
      if (round % 20 === 19) progress(`${round + 1} kills, ${changes.acknowledged.size} changes acknowledged`);
    }
    const { acknowledged, refused, unanswered } = changes;
    return { kills: rounds, acks: acknowledged.size, refused, unanswered, 'without a line': 0 };
  },
};

/** As whoever rotates it does. */
async function moveAway(server: SpawnedFramehold, file: string): Promise<void> {
  await rename(file, `${file}.${Date.now()}`);
  server.kill('SIGHUP');
}

/** As on a full disk: nothing is acknowledged meanwhile. */
async function cannotBeWritten(server: SpawnedFramehold, file: string, changes: Changes): Promise<void> {
  await rename(file, `${file}.${Date.now()}`);
  await symlink('/dev/full', file);
  server.kill('SIGHUP');
  const { refused } = changes;
  await until('changes without a line are refused', 20_000, () => changes.refused > refused + 10);
  await rm(file);
  server.kill('SIGHUP');
}

async function assertLines(folder: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const lines = new Map<string, number>();
  for (const name of await readdir(folder)) {
    if (!name.startsWith('audit')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      const { client_request_id: id, outcome } = parsed(line);
      if (id !== undefined && outcome === 'ok') lines.set(id, (lines.get(id) ?? 0) + 1);
    }
  }
  const without = [...acknowledged].filter((id) => lines.get(id) !== 1);
  promised(
    without.length === 0,
    'every acknowledged change has one line',
    without.map((id) => [id, lines.get(id)]),
  );
}

/** What a kill has cut off is the line of a change that was not acknowledged. */
function parsed(line: string): { readonly client_request_id?: string; readonly outcome?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

interface Change {
  readonly server: SpawnedFramehold;
  /** Of the writer's own. */
  readonly name: string;
  readonly headers: { readonly authorization: string; readonly 'x-request-id': string };
}

/** Whether it was acknowledged; else the code of the error. */
type Outcome = true | string | undefined;

/** Every way to change something, in an order in which most of them succeed. */
const kinds: readonly ((change: Change) => Promise<Outcome>)[] = [
  http('POST', (name) => `/imp?name=${name}&overwrite=true&fmt=json`, 'a\n1\n'),
  http('POST', (name) => `/imp?name=${name}&append=true&fmt=json`, 'a\n2\n'),
  http('POST', (name) => `/handles/${name}/renew`),
  http('PUT', (name) => `/handles/${name}/shares/other`),
  http('DELETE', (name) => `/handles/${name}/shares/other`),
  http(
    'POST',
    () => '/sql',
    (name) => JSON.stringify({ sql: `create or replace table ${name} as select 1 a` }),
  ),
  http(
    'POST',
    () => '/sql',
    (name) => JSON.stringify({ sql: `insert into ${name} select 2 a` }),
  ),
  http('DELETE', (name) => `/handles/${name}`),
  ({ server, name, headers }) => {
    return overFlight(server, (client) =>
      client.put(byPath(name), arrow, { headers, appMetadata: { mode: 'overwrite' } }),
    );
  },
  ({ server, name, headers }) => overFlight(server, (client) => client.action('framehold.drop', name, headers)),
  http('POST', () => '/tokens', '{"name":"x","role":"read","tenant":"default"}'),
  http(
    'POST',
    () => '/tenants',
    (name) => JSON.stringify({ name }),
  ),
  http('PATCH', (name) => `/tenants/${name}`, '{"max_frames":7}'),
  http('DELETE', (name) => `/tenants/${name}`),
];

type Text = string | ((name: string) => string);

function http(method: string, target: (name: string) => string, body?: Text) {
  return async ({ server, name, headers }: Change): Promise<Outcome> => {
    const sent = typeof body === 'function' ? body(name) : body;
    const answer = await ask(server.url + target(name), { method, headers, ...(sent !== undefined && { body: sent }) });
    return answer.status < 300 || String(answer.json().code);
  };
}

async function overFlight(
  { grpcPort }: SpawnedFramehold,
  call: (client: FlightClient) => ReturnType<FlightClient['action']> | ReturnType<FlightClient['put']>,
): Promise<Outcome> {
  using client = new FlightClient(grpcPort);
  const answer = await call(client);
  return answer.status.code === status.OK || answer.code;
}

/** What was changed, under the ids of the requests. */
class Changes {
  readonly #headers: { readonly authorization: string };
  readonly acknowledged = new Set<string>();
  refused = 0;
  unanswered = 0;
  #sent = 0;

  constructor(token: string) {
    this.#headers = bearer(token);
  }

  /** Until the server has ended. */
  async keepMaking(server: SpawnedFramehold, name: string, random: Random): Promise<void> {
    for (let n = random.between(0, kinds.length - 1); !server.hasExited(); n++) {
      const id = `change-${++this.#sent}`;
      const change = { server, name, headers: { ...this.#headers, 'x-request-id': id } };
      const kind = kinds[n % kinds.length] as (typeof kinds)[number];
      const outcome = await kind(change).catch(() => undefined);
      if (outcome === true) this.acknowledged.add(id);
      else if (outcome === 'audit_unavailable') this.refused += 1;
      else if (outcome === undefined) this.unanswered += 1;
    }
  }

  async untilMore(count: number): Promise<void> {
    const wanted = this.acknowledged.size + count;
    await until(`${count} more changes are acknowledged`, 60_000, () => this.acknowledged.size >= wanted);
  }
}
