import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchCase } from '../harness/bench-case.ts';
import { residentBytes, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { startFramehold } from '../rivals/framehold.ts';

const cacheMb = 500;
const allowedMb = 500;
const sampleMs = 100;
const handle = 'long_file';

interface Transfer {
  readonly bytes: number;
  readonly rows: number;
  readonly seconds: number;
}

export const csvMemory: BenchCase = {
  name: 'csv-memory',
  title: 'peak memory of all processes while five gigabytes of CSV come in by /imp and go out by /exp',
  unit: 'MB',
  better: 'lower',
  rounds: 1,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: cacheMb + allowedMb }],

  async prepare(lab, cleanup) {
    const dataDir = await mkdtemp(join(lab.folder, 'csv-memory-'));
    const settings = { CACHE_SIZE: String(cacheMb / 1000) };
    const { host, port, pid } = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog, settings }));
    const client = cleanup.use(await PythonClient.start('csv_stream', lab.folder));
    const run = async (totalBytes: number): Promise<{ sent: Transfer; received: Transfer }> => {
      const sent = await client.ask<Transfer>('send', { host, port, handle, total_bytes: totalBytes });
      const received = await client.ask<Transfer>('receive', { host, port, handle });
      if (received.rows !== sent.rows) throw new Error(`${received.rows} rows came back of ${sent.rows}`);
      await fetch(`http://${host}:${port}/handles/${handle}`, { method: 'DELETE' });
      return { sent, received };
    };
    return {
      contenders: [
        {
          name: 'framehold',
          async measure() {
            let peakBytes = 0;
            const timer = setInterval(() => {
              peakBytes = Math.max(peakBytes, residentBytes(pid));
            }, sampleMs);
            const { result, usage } = await watch(pid, () => run(lab.quick ? 100e6 : 5e9));
            clearInterval(timer);
            const { sent, received } = result;
            const details = { sentSeconds: sent.seconds, receivedSeconds: received.seconds, bytes: sent.bytes };
            return { value: peakBytes / 1e6, usage, details };
          },
        },
      ],
      async verify() {
        const { sent } = await run(10e6);
        return `${sent.rows.toLocaleString('en-US')} rows went in and came out`;
      },
    };
  },
};
