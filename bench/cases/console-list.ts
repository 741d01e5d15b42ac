import { join } from 'node:path';
import { makeSmallFrames } from '../data/large-frame.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { measureInBrowser } from '../harness/browser-client.ts';
import type { ListReading } from '../harness/console-readings.ts';
import { urlOf } from '../harness/http-get.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';

const slowdown = 4;
const mostBlockedMs = 100;

export const consoleList: BenchCase = {
  name: 'console-list',
  title: 'first contentful paint of the list of 5,000 frames, with a processor four times slower and an empty cache',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ceiling', of: 'console', atMost: 300 }],

  async prepare(lab, cleanup) {
    const frames = lab.quick ? 50 : 5000;
    const dataDir = join(lab.folder, 'console-list');
    const names = await makeSmallFrames(dataDir, frames);
    const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    for (const name of names) await untilReadable(server, name);
    await untilQuiet(server.pid);
    const open = (): Promise<ListReading> => measureInBrowser('list', { url: urlOf(server, ''), slowdown, frames });
    return {
      contenders: [
        {
          name: 'console',
          async measure() {
            const { result, usage } = await watch(server.pid, open);
            const { firstPaintMs, firstRowsMs, blockedMs } = result;
            return { value: firstPaintMs, usage, details: { firstRowsMs, blockedMs } };
          },
        },
      ],
      async verify() {
        const { listed, blockedMs } = await open();
        if (listed !== frames) throw new Error(`${listed} of ${frames} frames are listed`);
        lab.note(`the main thread is blocked for ${blockedMs.toFixed(0)} ms, of ${mostBlockedMs}`);
        return `${listed} frames are listed`;
      },
    };
  },
};
