import { once } from 'node:events';
import { connect } from 'node:net';
import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { type MarkedRequest, markedAnswer, markedSql, startMarkedUpstream } from './marked-upstream.ts';
import { askMarked, codeOf } from './told-answer.ts';

const connections = 4;
const queue = 6;

/** U4: more queries than there are connections, and clients that leave while they wait or are answered. */
export const manyQueries: Scenario = {
  id: 'U4',
  promise:
    'queries beyond the connections wait in turn, those beyond the queue are told so, and who leaves frees its place',
  rounds: { ci: 8, release: 1000 },
  secondsPerRound: 1,
  async run({ rounds, random, size }: Trial) {
    await using directory = await temporaryDirectory();
    const held: MarkedRequest[] = [];
    let mostHeld = 0;
    await using upstream = await startMarkedUpstream((request) => {
      mostHeld = Math.max(mostHeld, upstream.held());
      held.push(request);
    });
    const limits = ['--tsdb-max-connections', String(connections), '--tsdb-max-queue', String(queue)];
    const flags = ['--tsdb-http-url', upstream.url, ...limits];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const marker = markers();
    const turns: number[] = [];

    const refusals = await fillAndRelease();
    const abortsMs: number[] = [];
    for (let round = 0; round < rounds; round++) abortsMs.push(await leaveOne(random));
    await fillAndRelease();
    promised(mostHeld <= connections, 'there are never more connections than configured', mostHeld);
    abortsMs.sort((one, other) => one - other);
    const slowest = abortsMs.at(-1) ?? 0;
    const allowedMs = size === 'release' ? 100 : 1000;
    const late = abortsMs.filter((ms) => ms > allowedMs).length;
    promised(late === 0, `a client that leaves ends the upstream request within ${allowedMs} ms`, abortsMs.slice(-5));
    return {
      'clients that left': rounds,
      refusals,
      'most connections': mostHeld,
      'median abort ms': Math.round(abortsMs[abortsMs.length >> 1] ?? 0),
      'slowest abort ms': Math.round(slowest),
    };

    /** As many as there is room for, and then some more. Answers one after the other and sees who comes next. */
    async function fillAndRelease(): Promise<number> {
      const asked: number[] = [];
      const answers: Promise<void>[] = [];
      for (let i = 0; i < connections + queue; i++) {
        const own = marker.next().value;
        asked.push(own);
        answers.push(askPatiently(own));
        if (i < connections) await until('a free connection is used', 5000, () => held.length === i + 1);
        // What came before a ping is in the queue when the ping is answered.
        else await ask(`${server.url}/ping`);
      }
      for (let i = 0; i < 5; i++) {
        const told = await askMarked(server.url, marker.next().value);
        const isRefused = told.kind === 'whole' && told.status === 503 && codeOf(told) === 'overloaded';
        promised(isRefused && told.headers['retry-after'] === '1', 'one too many is told so at once', told);
      }
      const order: number[] = [];
      while (order.length < asked.length) {
        const waiting = asked.length - order.length;
        await until('the next one has its turn', 5000, () => held.length === Math.min(connections, waiting));
        const [request] = held.splice(random.between(0, held.length - 1), 1) as [MarkedRequest];
        order.push(request.marker);
        turns.push(...held.map((each) => each.marker).filter((each) => !turns.includes(each)));
        await request.send(markedAnswer(request.marker));
      }
      await Promise.all(answers);
      const inTurn = turns.filter((each) => asked.includes(each));
      promised(
        inTurn.every((each, at) => at === 0 || each > (inTurn[at - 1] ?? 0)),
        'those who wait get their turn in the order of asking',
        inTurn,
      );
      return 5;
    }

    async function askPatiently(own: number): Promise<void> {
      const headers: Record<string, string> = random.chance(0.3) ? { 'statement-timeout': '1000' } : {};
      const told = await askMarked(server.url, own, { headers });
      promised(told.kind === 'whole' && told.status === 200, 'one that waited is answered', told);
      promised(String(told.body) === JSON.stringify({ marker: own }), 'everyone gets its own answer', told);
    }

    /** One client leaves, before its answer or in the middle of it; the time until its request is gone there. */
    async function leaveOne(own: Random): Promise<number> {
      const { hostname, port } = new URL(server.url);
      const query = new URLSearchParams({ query: markedSql(marker.next().value), fmt: 'json' });
      const client = connect(Number(port), hostname, () => {
        client.write(`GET /exec?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      });
      client.on('error', () => {});
      await until('the request arrives', 5000, () => held.length === 1);
      const { socket, send } = held.shift() as MarkedRequest;
      if (own.chance(0.5)) {
        const first = once(client, 'data');
        const length = own.pick([10, 1000, 5_000_000]);
        await send(`HTTP/1.1 200 OK\r\nContent-Length: ${length + 1}\r\n\r\n`);
        void send(Buffer.alloc(length));
        await first;
      }
      const startedAt = performance.now();
      const gone = new Promise((resolve) => socket.once('close', resolve));
      if (own.chance(0.5)) client.destroy();
      else client.resetAndDestroy();
      await gone;
      return performance.now() - startedAt;
    }
  },
};

function* markers(): Generator<number, never> {
  for (let marker = 1; ; marker++) yield marker;
}
