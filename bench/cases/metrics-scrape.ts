import { join } from 'node:path';
import { makeSmallFrames } from '../data/large-frame.ts';
import { authEnabled, fillAccess, makeTokens } from '../harness/access.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { httpGet, urlOf } from '../harness/http-get.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { median } from '../harness/rounds.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';

const scrapes = 100;
const mostBytes = 200_000;

export const metricsScrape: BenchCase = {
  name: 'metrics-scrape',
  title:
    'GET /metrics of a server with 1,000 frames and 50 tenants that has served every read route, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 10 }],

  async prepare(lab, cleanup) {
    const frames = lab.quick ? 20 : 1000;
    const dataDir = join(lab.folder, 'metrics-scrape');
    await makeSmallFrames(dataDir, frames);
    await fillAccess(dataDir, { tokens: 1, tenants: 50 });
    const [authorization = ''] = await makeTokens(dataDir, { role: 'operator' });
    const client = { credentials: [authorization] };
    const server = cleanup.use(
      await startFramehold({ dataDir, logPath: lab.frameholdLog, settings: authEnabled, client }),
    );
    await untilReadable(server, `frame_${frames - 1}`);
    const { paths } = JSON.parse((await httpGet(urlOf(server, '/openapi.json'), server)).body.toString()) as {
      readonly paths: Readonly<Record<string, { readonly get?: object }>>;
    };
    for (const [path, { get }] of Object.entries(paths)) {
      for (const name of get === undefined ? [] : ['frame_0', 'nothing']) {
        await httpGet(urlOf(server, path.replaceAll(/\{\w+\}/g, name)), server);
      }
    }
    await untilQuiet(server.pid);
    const scrape = async (): Promise<string> => {
      const { status, body } = await httpGet(urlOf(server, '/metrics'), server);
      if (status !== 200) throw new Error(`/metrics answered ${status}`);
      return body.toString();
    };
    return {
      contenders: [
        {
          name: 'framehold',
          async measure() {
            const { result, usage } = await watch(server.pid, async () => {
              const times: number[] = [];
              for (let at = 0; at < scrapes; at++) {
                const begunMs = performance.now();
                await scrape();
                times.push(performance.now() - begunMs);
              }
              return median(times);
            });
            return { value: result, usage, details: { p50Ms: result } };
          },
        },
      ],
      async verify() {
        const text = await scrape();
        const tenants = text.match(/^framehold_tenant_frames\{/gm)?.length ?? 0;
        if (tenants < 50) throw new Error(`only ${tenants} tenants are told of`);
        if (!text.includes(`framehold_frames ${frames}\n`)) throw new Error('not all frames are counted');
        lab.note(`${text.length} bytes, of ${mostBytes}`);
        if (text.length > mostBytes) throw new Error(`${text.length} bytes are more than ${mostBytes}`);
        return `${frames} frames, ${tenants} tenants`;
      },
    };
  },
};
