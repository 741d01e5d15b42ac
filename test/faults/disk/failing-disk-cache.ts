import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { injectFault } from '../harness/injected-fault.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { filesOf, keptReadings, readAll } from './mutated-disk-cache.ts';
import { becomes } from './private-files.ts';
import { smallDisk } from './small-disk.ts';
import { type StoredFrame, settledCompression, storeFrame } from './stored-frames.ts';

const framesKept = 8;
/** What a small put needs, and more: a cache that could not be written has nothing to give. */
const enoughBytes = 400_000;
/** Of the server; only its cache on disk makes the second. */
const calls = ['pread64', 'pwritev'] as const;

/** D7: the disk under rows that are kept on it is full, or fails. */
export const failingDiskCache: Scenario = {
  id: 'D7-errors',
  promise: 'a disk that is full or fails under rows kept on it fails no read, and frames have its room first',
  rounds: { ci: 2, release: 200 },
  secondsPerRound: 8,
  needs: ['mount', 'strace'],
  async run({ rounds, random, progress }: Trial) {
    await using disk = await smallDisk({ bytes: 96 * 2 ** 20 });
    await using elsewhere = await temporaryDirectory();
    const cache = join(disk.path, 'cache');
    const flags = [...settledCompression, '--cache-size', '0.02'];
    const frames: StoredFrame[] = [];
    const counts = { reads: 0, 'failed calls': 0 };
    for (let round = 0; round <= rounds; round++) {
      // A new process has nothing in memory.
      await using server = await spawnFramehold({ dataDir: disk.path, flags });
      if (round === 0) {
        for (let n = 0; n < framesKept; n++) frames.push(await storeFrame(server, disk.path, `f${n}`, random));
        await becomes('rows are kept on disk', async () => filesOf(cache).length > framesKept);
        continue;
      }
      const call = calls[round % calls.length] ?? 'pread64';
      const traceFile = join(elsewhere.path, 'trace');
      const when = random.pick(['1+', '2', '2+']);
      if (call === 'pwritev') for (const file of filesOf(cache)) rmSync(file);
      const paths = call === 'pread64' ? filesOf(cache) : [];
      const fault = await injectFault({ processes: [server.pid], isAlone: true, call, when, paths, traceFile });
      try {
        counts.reads += await readAll(server, frames, keptReadings);
      } finally {
        counts['failed calls'] += (await fault.end()).split('(INJECTED)').length - 1;
      }
      const keptBytes = filesOf(cache).reduce((sum, file) => sum + statSync(file).size, 0);
      await disk.leave(random.between(0, 8) * 4096);
      counts.reads += await readAll(server, frames, keptReadings);
      if (keptBytes >= enoughBytes) await putWithCacheGivingWay(server.url);
      disk.makeRoom();
      const at = random.between(0, framesKept - 1);
      frames[at] = await storeFrame(server, disk.path, `f${at}`, random);
      counts.reads += await readAll(server, frames, keptReadings);
      promised(!server.hasExited(), 'the server runs on');
      if (round % 20 === 19) progress(`${round + 1} rounds`);
    }
    promised(counts['failed calls'] > 0, 'calls failed', counts);
    return { rounds, wrong: 0, ...counts };
  },
};

/** A put that finds no room takes that of the cache: the next one fits. */
async function putWithCacheGivingWay(url: string): Promise<void> {
  const rows = `n\n${'1\n'.repeat(1000)}`;
  const put = () => ask(`${url}/imp?name=small&overwrite=true`, { method: 'POST', body: rows });
  await becomes('a small frame has room', async () => {
    const { status, text } = await put();
    promised(status === 200 || status === 507, 'a put is kept, or refused for want of room', text);
    return status === 200;
  });
  const dropped = await ask(`${url}/handles/small`, { method: 'DELETE' });
  promised(dropped.status === 200, 'it is dropped', dropped.text);
}
