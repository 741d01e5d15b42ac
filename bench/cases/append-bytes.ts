import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { appendTicks, assertRows, rowsPerAppend, tickCsv } from '../data/ticks.ts';
import type { BenchCase, Reading } from '../harness/bench-case.ts';
import { pidsOf, untilQuiet } from '../harness/process-tree.ts';
import { startFramehold } from '../rivals/framehold.ts';

const appends = 20_000;
/** Rows leave the log, and parts are merged, half a minute after the last append each. */
const settledMs = 75_000;
const attachMs = 2000;

/** Bytes given to `write` for files of the data directory, to the end of merging. */
export const appendBytes: BenchCase = {
  name: 'append-bytes',
  title:
    'bytes given to write for each byte appended, 20,000 appends of ten rows by one connection, to the end of merging',
  unit: 'bytes/byte',
  better: 'lower',
  rounds: 1,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 4 }],
  async prepare(lab, cleanup) {
    const dataDir = await mkdtemp(join(lab.folder, 'append-bytes-'));
    const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    await appendTicks(server, 'ticks', { appends: 10, connections: 1 });
    const count = lab.quick ? 200 : appends;
    return {
      contenders: [
        {
          name: 'framehold',
          async measure(): Promise<Reading> {
            const trace = join(lab.folder, 'writes');
            const calls = 'trace=write,writev,pwrite64,pwritev';
            const attached = pidsOf(server.pid).flatMap((pid) => ['-p', String(pid)]);
            const strace = spawn('strace', ['-f', '-qq', '-yy', '-s', '0', '-e', calls, '-o', trace, ...attached]);
            await delay(attachMs);
            await appendTicks(server, 'ticks', { appends: count, connections: 1 });
            await delay(lab.quick ? 1000 : settledMs);
            await untilQuiet(server.pid);
            strace.kill('SIGINT');
            await once(strace, 'exit');
            await assertRows(server, 'ticks', (count + 10) * rowsPerAppend);
            const appended = Array.from({ length: count }, (_, at) => tickCsv[at % tickCsv.length] as string).reduce(
              (sum, body) => sum + body.length,
              0,
            );
            const written = writtenBelow(dataDir, await readFile(trace, 'utf8'));
            return {
              value: written / appended,
              usage: { cpuSeconds: 0, peakRssBytes: 0 },
              details: { written, appended },
            };
          },
        },
      ],
      verify: async () => 'strace counts the bytes that each call has written',
    };
  },
};

/** The last number of a line is the call's written bytes. A call cut in two has its result in the second line. */
function writtenBelow(folder: string, trace: string): number {
  let bytes = 0;
  const unfinished = new Set<string>();
  for (const line of trace.split('\n')) {
    const [pid = ''] = line.split(' ', 1);
    const isOurs = line.includes(`<${folder}`) || (line.includes('resumed>') && unfinished.has(pid));
    if (!isOurs) continue;
    if (line.endsWith('<unfinished ...>')) {
      unfinished.add(pid);
      continue;
    }
    unfinished.delete(pid);
    bytes += Number(/= (\d+)$/.exec(line)?.[1] ?? 0);
  }
  return bytes;
}
