import { Agent, request } from 'node:http';
import { status as grpcStatus } from '@grpc/grpc-js';
import { FlightClient } from '../../support/flight-client.ts';
import { Random } from '../harness/random.ts';

/** A process of its own, so that neither the harness nor its clock is what limits the load. */

export interface LoadOrder {
  readonly url: string;
  readonly grpcPort: number;
  readonly seed: number;
  readonly seconds: number;
  /** Clients that ask again when they are answered; undefined where requests come at a rate, answered or not. */
  readonly waiting?: number | undefined;
  readonly perSecond?: number | undefined;
}

export interface LoadReport {
  readonly accepted: number;
  readonly refused: number;
  /** Neither an answer nor a refusal as it is documented, by what they were. */
  readonly strange: Readonly<Record<string, number>>;
  readonly acceptedMs: readonly number[];
  /** Connections that were not taken. */
  readonly unconnected: number;
}

/** When the server could have heard of a request. */
interface Clock {
  startedAt: number;
}

type End = 'accepted' | 'refused' | 'unconnected' | { readonly strange: string };

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 512 });
let order: LoadOrder;
let flight: FlightClient[];
let puts = 0;

process.once('message', async (given: LoadOrder) => {
  order = given;
  flight = Array.from({ length: 8 }, () => new FlightClient(given.grpcPort));
  process.send?.(await run(new Random(given.seed)));
  process.disconnect();
  process.exit();
});

async function run(random: Random): Promise<LoadReport> {
  const report = { accepted: 0, refused: 0, unconnected: 0, strange: {} as Record<string, number> };
  const acceptedMs: number[] = [];
  const endsAt = performance.now() + order.seconds * 1000;
  const one = async (): Promise<void> => {
    const clock: Clock = { startedAt: performance.now() };
    const end = await askSomething(random, clock);
    if (typeof end === 'object') report.strange[end.strange] = (report.strange[end.strange] ?? 0) + 1;
    else report[end]++;
    if (end === 'accepted') acceptedMs.push(performance.now() - clock.startedAt);
  };
  if (order.waiting !== undefined) {
    const client = async (): Promise<void> => {
      while (performance.now() < endsAt) await one();
    };
    await Promise.all(Array.from({ length: order.waiting }, client));
  } else {
    const all: Promise<void>[] = [];
    const begun = performance.now();
    while (performance.now() < endsAt) {
      const due = ((performance.now() - begun) / 1000) * (order.perSecond ?? 0);
      while (all.length < due) all.push(one());
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all(all);
  }
  return { ...report, acceptedMs };
}

/** Half are reads of what is in memory, the rest reads from disk, statements and small puts, at both doors. */
function askSomething(random: Random, clock: Clock): Promise<End> {
  const row = random.between(1, 900_000);
  const chance = random.next();
  if (chance < 0.5)
    return http(clock, 'GET', `/exec?handle=trades&fmt=json&limit=${1 + (row % 20) * 100},${(row % 20) * 100 + 100}`);
  if (chance < 0.6) return http(clock, 'GET', `/exp?handle=trades&fmt=csv&cols=id&limit=${row},${row + 100}`);
  if (chance < 0.8)
    return http(clock, 'POST', '/sql', JSON.stringify({ sql: `select max(id) + ${row} as n from trades` }));
  if (chance < 0.9) return overFlight(random.pick(flight), `select count(*) + ${row} as n from trades`);
  return http(clock, 'POST', `/imp?name=put${++puts % 50}&overwrite=true&format=csv`, `n\n${row}\n`);
}

function http(clock: Clock, method: string, target: string, body?: string): Promise<End> {
  return new Promise((resolve) => {
    const outgoing = request(order.url + target, { method, agent }, (incoming) => {
      incoming.on('error', (error) => resolve({ strange: String(error) }));
      incoming.on('end', () => {
        const { statusCode = 0, headers } = incoming;
        if (statusCode === 200) resolve('accepted');
        else if (statusCode === 503 && headers['retry-after'] !== undefined) resolve('refused');
        else resolve({ strange: `${method} ${target.slice(0, 5)} ${statusCode}` });
      });
      incoming.resume();
    });
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) return;
      // Behind more connections than the kernel keeps, one is tried again after seconds.
      socket.once('connect', () => {
        clock.startedAt = performance.now();
      });
    });
    // A connection beyond http.max_connections, or one that was idle too long, is closed without a word.
    outgoing.on('error', () => resolve('unconnected'));
    outgoing.end(body);
  });
}

function overFlight(client: FlightClient, sql: string): Promise<End> {
  const refusals: ReadonlySet<number> = new Set([grpcStatus.RESOURCE_EXHAUSTED, grpcStatus.UNAVAILABLE]);
  return client.get(JSON.stringify({ sql })).then(({ status: { code, details } }) => {
    if (code === grpcStatus.OK) return 'accepted';
    return refusals.has(code) ? 'refused' : { strange: `DoGet ${code} ${details.slice(0, 60)}` };
  });
}
