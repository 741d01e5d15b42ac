import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bar, BenchCase, Contender } from '../harness/bench-case.ts';
import type { Lab } from '../harness/lab.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { pythonPackage } from '../harness/python-package.ts';
import { type FrameholdServer, startFramehold } from '../rivals/framehold.ts';

/** A way to the same answer, of clients/python_package.py. */
type Way = 'package' | 'http' | 'flight';

interface PackageOptions {
  readonly name: string;
  readonly title: string;
  /** Of clients/python_package.py. */
  readonly operation: 'get' | 'sql' | 'append';
  /** Of the operation, in one round. */
  readonly count: number;
  /** The bare requests, and the most that the package may take as a multiple of their time. */
  readonly rivals: Partial<Record<Way, number>>;
  /** The handles of each way. */
  readonly handles: Partial<Record<Way, readonly string[]>>;
  readonly start: (lab: Lab) => Promise<FrameholdServer>;
}

const names: Record<Way, string> = { package: 'framehold', http: 'bare HTTP', flight: 'bare Flight' };

export const pythonPackageCases: readonly BenchCase[] = [
  pythonPackageCase({
    name: 'python-get',
    title: 'the million rows of trades into polars by get() of the Python package, and by DoGet of pyarrow, p50',
    operation: 'get',
    count: 10,
    rivals: { flight: 1.1 },
    handles: { package: ['trades'], flight: ['trades'] },
    start: (lab) => lab.startDemo(),
  }),
  pythonPackageCase({
    name: 'python-sql',
    title: '`select 1` by sql() of the Python package, as the ticket of one DoGet, and by http.client, p50',
    operation: 'sql',
    count: 1000,
    rivals: { flight: 1.2, http: 1.2 },
    handles: {},
    start: (lab) => lab.startDemo(),
  }),
  pythonPackageCase({
    name: 'python-append',
    title: 'appends of ten rows by append() of the Python package, and of the same bytes by http.client, p50',
    operation: 'append',
    count: 1000,
    rivals: { http: 1.2 },
    handles: { package: ['by_package'], http: ['by_http'] },
    start: startEmpty,
  }),
];

async function startEmpty(lab: Lab): Promise<FrameholdServer> {
  const dataDir = await mkdtemp(join(lab.folder, 'package-'));
  return startFramehold({ dataDir, logPath: lab.frameholdLog });
}

/** The package and bare requests take turns in one process of Python. */
function pythonPackageCase({ name, title, operation, count, rivals, handles, start }: PackageOptions): BenchCase {
  const ways: readonly Way[] = ['package', ...(Object.keys(rivals) as Way[])];
  const bars = Object.entries(rivals).map(
    ([way, most]): Bar => ({ kind: 'ratio', against: names[way as Way], atLeast: 1 / most }),
  );
  return {
    name,
    title,
    unit: 'ms',
    better: 'lower',
    rounds: 9,
    bars,

    async prepare(lab, cleanup) {
      const python = await pythonPackage(await mkdtemp(join(lab.folder, 'package-')));
      const server = cleanup.use(await start(lab));
      const client = cleanup.use(await PythonClient.start('python_package', lab.folder, python));
      const { host, port, grpcUri: grpc_uri } = server;
      await client.ask('open_server', { host, port, grpc_uri });
      const times = lab.quick ? Math.ceil(count / 20) : count;
      const measure = (way: Way, count: number) => client.ask<Times>('measure', { operation, way, count, handles });
      const contender = (way: Way): Contender => ({
        name: names[way],
        beforeRound: async () => void (await measure(way, Math.ceil(times / 10))),
        async measure() {
          const { result, usage } = await watch(server.pid, () => measure(way, times));
          return { value: result.p50Ms, usage, details: { ...result } };
        },
      });
      return {
        contenders: ways.map(contender),
        async verify() {
          const answer = await client.ask<string>('same_answers', { operation, handles });
          if (operation !== 'append') return answer;
          const frames = Object.values(handles).flat();
          return `${await client.ask<number>('same_frames', { handles: frames })} rows in both frames`;
        },
      };
    },
  };
}

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
}
