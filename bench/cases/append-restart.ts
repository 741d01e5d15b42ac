import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { appendTicks, assertRows, rowsPerAppend } from '../data/ticks.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { untilQuiet } from '../harness/process-tree.ts';
import { frameholdCommand, startFramehold } from '../rivals/framehold.ts';
import { timeStart } from './start.ts';

const appends = 100_000;

/** From the spawn to the first page, over a directory with a frame that was appended to. */
export const appendRestart: BenchCase = {
  name: 'append-restart',
  title:
    'from the start of the process to the first row of 1,000,000 in 100,000 appends, against the same rows put at once',
  unit: 's',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'margin', of: 'framehold', over: 'put at once', atMost: 0.2 }],
  async prepare(lab) {
    const count = lab.quick ? 1000 : appends;
    const grown = await mkdtemp(join(lab.folder, 'append-restart-'));
    const whole = await mkdtemp(join(lab.folder, 'append-restart-whole-'));
    {
      await using server = await startFramehold({ dataDir: grown, logPath: lab.frameholdLog });
      await appendTicks(server, 'ticks', { appends: count, connections: 16 });
      await assertRows(server, 'ticks', count * rowsPerAppend);
      const file = await fetch(`http://${server.host}:${server.port}/exp?handle=ticks&fmt=parquet`);
      await using other = await startFramehold({ dataDir: whole, logPath: lab.frameholdLog });
      const target = `http://${other.host}:${other.port}/imp?name=ticks&format=parquet`;
      const put = await fetch(target, { method: 'POST', body: await file.arrayBuffer() });
      if (!put.ok) throw new Error(`the rows could not be put: ${await put.text()}`);
      await untilQuiet(other.pid);
    }
    const question = { path: '/exec?handle=ticks&fmt=json&limit=1', answer: '"count":1' };
    const starting = (dataDir: string) => () =>
      timeStart(
        (port) =>
          frameholdCommand({
            dataDir,
            logPath: lab.frameholdLog,
            settings: { HTTP_BIND_ADDRESS: `127.0.0.1:${port}` },
          }),
        question,
      );
    return {
      contenders: [
        { name: 'framehold', measure: starting(grown) },
        { name: 'put at once', measure: starting(whole) },
      ],
      verify: async () => `${count * rowsPerAppend} rows of ${count} appends`,
    };
  },
};
