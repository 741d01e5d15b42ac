import { connect, type Socket } from 'node:net';
import { residentBytes } from '../../../bench/harness/process-tree.ts';
import { ask } from '../../support/http-client.ts';
import { openFilesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';

const readers = { ci: 40, release: 200 } as const;
const rows = { ci: 600_000, release: 8_000_000 } as const;
const stallMs = { ci: 4000, release: 30_000 } as const;
/** Fewer readers share what the server keeps for all of them, such as its heap between two collections. */
const mostBytesEach = { ci: 4 * 1024 * 1024, release: 1024 * 1024 } as const;

/** O2: readers that take a kilobyte a second of an answer of many megabytes. */
export const slowReaders: Scenario = {
  id: 'O2',
  promise: 'readers that take next to nothing cost little memory, are cut off in time, and hold up nobody',
  rounds: { ci: 0, release: 3 },
  secondsPerRound: 120,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const flags = ['--cache-size', '0.02', '--http-stall-timeout', `${stallMs[size]}ms`];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const sql = `select range as id, repeat('x', 100) as text from range(${rows[size]})`;
    const kept = await ask(`${server.url}/sql`, {
      method: 'POST',
      body: JSON.stringify({ sql, keep: { handle: 'big' } }),
    });
    promised(kept.status === 200, 'a large frame can be kept', kept.text);
    using normal = new Connection(server.url);
    const readPage = async (): Promise<number> => {
      const { status, ms } = await normal.ask(`/exec?handle=big&fmt=json&limit=${rows[size] - 999},`);
      promised(status === 200, 'a normal reader is served', status);
      return ms;
    };
    const idleMs = await readPage();
    let mostEach = 0;
    let slowestPageMs = 0;
    let slowestCutMs = 0;
    for (let round = 0; round < rounds; round++) {
      const before = residentBytes(server.pid);
      const filesBefore = openFilesOf(server.pid);
      const startedAt = performance.now();
      const slow = Array.from({ length: readers[size] }, (_, n) => new SlowReader(server, n));
      await until('all have begun', 60_000, () => slow.every(({ hasBegun }) => hasBegun));
      mostEach = Math.max(mostEach, (residentBytes(server.pid) - before) / slow.length);
      slowestPageMs = Math.max(slowestPageMs, await readPage());
      // Seen from the server's side: a client that does not read does not notice either.
      const areCut = (): boolean => openFilesOf(server.pid) < filesBefore + slow.length / 10;
      await until('all are cut off', 3 * stallMs[size] + 20_000, areCut, () => openFilesOf(server.pid) - filesBefore);
      slowestCutMs = Math.max(slowestCutMs, performance.now() - startedAt);
      for (const reader of slow) reader[Symbol.dispose]();
      progress(`${round + 1} rounds, ${Math.round(mostEach / 1024)} KiB each`);
    }
    promised(mostEach < mostBytesEach[size], `a slow reader costs less than ${mostBytesEach[size]} bytes`, mostEach);
    return {
      readers: readers[size],
      'KiB each': Math.round(mostEach / 1024),
      'slowest cut ms': Math.round(slowestCutMs),
      'page idle ms': Math.round(idleMs),
      'slowest page ms': Math.round(slowestPageMs),
    };
  },
};

class SlowReader implements Disposable {
  hasBegun = false;
  readonly #socket: Socket;
  readonly #tick: NodeJS.Timeout;

  constructor({ url }: SpawnedFramehold, n: number) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on('error', () => {});
    const target = n % 2 === 0 ? '/exec?handle=big&fmt=json&limit=1,' : '/exp?handle=big&fmt=csv';
    socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    this.#socket = socket;
    this.#tick = setInterval(() => {
      if (socket.read(1024) !== null) this.hasBegun = true;
    }, 1000);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#tick);
    this.#socket.destroy();
  }
}
