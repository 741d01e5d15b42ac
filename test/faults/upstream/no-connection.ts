import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { markedAnswer } from './marked-upstream.ts';
import { askMarked, codeOf } from './told-answer.ts';

const connectTimeoutMs = 500;

/** U6: databases that cannot be connected to, one after the other, and one that comes, goes and comes back. */
export const noConnection: Scenario = {
  id: 'U6',
  promise: 'while the external database cannot be reached, requests fail at once, and once it is back they work again',
  rounds: { ci: 2, release: 50 },
  secondsPerRound: 15,
  async run({ rounds, size }: Trial) {
    await using plain = await listen(createServer());
    await using secure = await listen(createTlsServer());
    const urls = [
      'http://framehold-test.invalid:9000',
      // For documentation only, so nobody is there: not routed, or silent.
      'http://192.0.2.1:9000',
      `https://127.0.0.1:${plain.port}`,
      `http://127.0.0.1:${secure.port}`,
    ];
    await Promise.all(urls.map((url) => expectFailing(url)));

    let slowestBackMs = 0;
    let attempts = 0;
    await using directory = await temporaryDirectory();
    const port = await freePort();
    await using server = await start(directory.path, `http://127.0.0.1:${port}`);
    for (let round = 0; round < rounds; round++) {
      attempts += await failAtOnce(server, size === 'release' ? 100 : 1000);
      await using back = await listen(createServer(answering), port);
      const backMs = await until(
        'it works again',
        5000,
        async () => (await askMarked(server.url, 1)).kind === 'whole' && back.accepted() > 0,
      );
      slowestBackMs = Math.max(slowestBackMs, backMs);
      for (let i = 0; i < 20; i++) {
        const told = await askMarked(server.url, 1);
        promised(told.kind === 'whole' && told.status === 200, 'once it is back, everyone is answered', told);
      }
    }
    const log = server.stderr();
    const times = (text: string): number => log.split(text).length - 1;
    promised(
      times('the external database is down') <= rounds + 1,
      'each outage is told once in the log',
      log.slice(-500),
    );
    return {
      outages: rounds,
      'requests that failed at once': attempts,
      'slowest return ms': Math.round(slowestBackMs),
    };
  },
};

async function expectFailing(url: string): Promise<void> {
  await using directory = await temporaryDirectory();
  await using server = await start(directory.path, url);
  for (let i = 0; i < 5; i++) {
    const told = await askMarked(server.url, i);
    const isRefused = told.kind === 'whole' && told.status === 502 && codeOf(told) === 'tsdb_unreachable';
    promised(isRefused, `${url} is 502`, told.kind === 'whole' ? String(told.body) : told);
    promised(told.ms < connectTimeoutMs + 5000, `${url} fails in time`, told.ms);
  }
  promised((await ask(`${server.url}/ping`)).status === 200, 'other doors are open');
}

/** Everyone is told within the time of an answer, not of a connection. */
async function failAtOnce(server: SpawnedFramehold, allowedMs: number): Promise<number> {
  await until('it is down', 5000, async () => {
    const told = await askMarked(server.url, 1);
    return told.kind === 'whole' && told.status === 502 && told.headers['retry-after'] === '1';
  });
  const ask = () => Promise.all(Array.from({ length: 50 }, () => askMarked(server.url, 1)));
  // The first come to a server, and from a client, whose code is not compiled yet.
  const first = await ask();
  const all = await ask();
  for (const told of [...first, ...all]) {
    const isTold = told.kind === 'whole' && told.status === 502 && told.headers['retry-after'] === '1';
    promised(isTold, 'while it is down everyone is told when to come back', told);
  }
  const slowestMs = Math.max(...all.map(({ ms }) => ms));
  promised(slowestMs < allowedMs, `while it is down everyone is told within ${allowedMs} ms`, slowestMs);
  return all.length;
}

function start(dataDir: string, url: string): Promise<SpawnedFramehold> {
  const flags = ['--tsdb-http-url', url, '--tsdb-connect-timeout', `${connectTimeoutMs}ms`];
  return spawnFramehold({ dataDir, flags });
}

function answering(socket: Socket): void {
  socket.on('data', () => socket.write(markedAnswer(1)));
}

interface Listening extends AsyncDisposable {
  readonly port: number;
  accepted(): number;
}

async function listen(server: Server, port = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket.on('error', () => {}));
  });
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function freePort(): Promise<number> {
  await using one = await listen(createServer());
  return one.port;
}
