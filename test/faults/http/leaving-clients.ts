import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { settledCompression } from '../disk/stored-frames.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { type GoodRequest, recordGoodTraffic } from './good-traffic.ts';
import { startGoodUpstream } from './good-upstream.ts';
import { givesBack, heldBy, warmUp } from './held-resources.ts';

const freeWithinMs: Readonly<Record<Size, number>> = { ci: 5000, release: 1000 };
/** Minutes of work for the one worker there is. */
const endless = 'select count(*) from range(1_000_000) a, range(10_000_000) b where a.range + b.range = 7';

/** O3: clients that leave in the middle of anything. */
export const leavingClients: Scenario = {
  id: 'O3-HTTP',
  promise: 'a client that leaves, at whatever point, stops its work and gives back all that it held',
  rounds: { ci: 10, release: 1000 },
  secondsPerRound: 0.5,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using upstream = await startGoodUpstream();
    const flags = ['--sql-workers', '1', '--tsdb-http-url', upstream.url, ...settledCompression];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    await putBig(server);
    const traffic = [...(await recordGoodTraffic(server.url)), ...long];
    await warmUp(server);
    const before = heldBy(server, directory.path);
    let [left, slowestMs] = [0, 0];
    while (left < rounds) {
      const many = Math.min(10, rounds - left);
      await Promise.all(Array.from({ length: many }, () => leave(server, random.pick(traffic), random.fork())));
      left += many;
      slowestMs = Math.max(slowestMs, await freeAgainMs(server, random, size));
      if (left % 100 === 0) progress(`${left} clients left`);
    }
    await givesBack(server, directory.path, before, 15_000);
    return { clients: left, 'slowest statement ms after one left': Math.round(slowestMs) };
  },
};

const head = (line: string): Buffer => Buffer.from(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
const long: readonly GoodRequest[] = [
  { route: '/exec', bytes: head('GET /exec?handle=big&fmt=json&limit=1,'), isDear: true },
  { route: '/exp', bytes: head('GET /exp?handle=big&fmt=csv'), isDear: true },
  { route: '/exp', bytes: head('GET /exp?handle=big&fmt=parquet&limit=0,100000'), isDear: true },
  { route: '/exp', bytes: head('GET /exp?handle=big&fmt=arrow'), isDear: true },
  {
    route: '/exec',
    bytes: head('GET /exec?query=select+*+from+big+order+by+id+desc&engine=local&fmt=json'),
    isDear: true,
  },
];

async function putBig({ url }: SpawnedFramehold): Promise<void> {
  const sql = "select range as id, repeat('x', 200) as text from range(200_000)";
  const answer = await ask(`${url}/sql`, { method: 'POST', body: JSON.stringify({ sql, keep: { handle: 'big' } }) });
  promised(answer.status === 200, 'the large frame can be put', answer.text);
}

/** After half a request, after the whole of it, or after some of the answer; politely, or by a reset. */
async function leave({ url }: SpawnedFramehold, { bytes }: GoodRequest, random: Random): Promise<void> {
  const { hostname, port } = new URL(url);
  const stage = random.pick(['half', 'whole', 'answer'] as const);
  const sent = stage === 'half' ? bytes.subarray(0, random.between(0, bytes.length - 1)) : bytes;
  const enough = random.pick([1, 1000, 1_000_000]);
  const pauseMs = random.between(0, 30);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname);
    const go = (): void => {
      if (random.chance(0.5)) socket.resetAndDestroy();
      else socket.destroy();
    };
    let heardBytes = 0;
    socket.on('error', () => {}).on('close', () => resolve());
    socket.on('data', (piece: Buffer) => {
      heardBytes += piece.length;
      // A short answer is over before it is half.
      if (stage === 'answer' && heardBytes >= Math.min(enough, 500)) go();
    });
    socket.write(sent, () => {
      if (stage !== 'answer') setTimeout(go, pauseMs);
      else setTimeout(go, 5000).unref();
    });
  });
}

/** A client asks for something endless and leaves; from then on until the only worker does another's statement. */
async function freeAgainMs(server: SpawnedFramehold, random: Random, size: Size): Promise<number> {
  const controller = new AbortController();
  const body = JSON.stringify({ sql: endless });
  const asked = ask(`${server.url}/sql`, { method: 'POST', body, signal: controller.signal }).then(
    (answer) => promised(false, 'the endless statement does not end', answer.text),
    () => {},
  );
  await delay(random.between(20, 200));
  controller.abort();
  await asked;
  const leftAt = performance.now();
  const answer = await ask(`${server.url}/sql`, { method: 'POST', body: '{"sql":"select 1 as a"}' });
  const ms = performance.now() - leftAt;
  promised(answer.status === 200, 'the next statement is answered', answer.text);
  promised(ms < freeWithinMs[size], `the worker is free within ${freeWithinMs[size]} ms`, ms);
  return ms;
}
