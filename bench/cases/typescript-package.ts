import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { assertRows } from '../data/ticks.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { quantile } from '../harness/latencies.ts';
import { watch } from '../harness/process-tree.ts';
import { type FrameholdServer, startFramehold } from '../rivals/framehold.ts';

const builder = fileURLToPath(new URL('../../scripts/build-client.mjs', import.meta.url));
type Fetched = typeof import('#client/index.ts');
type InNode = typeof import('#client/node.ts');
type Client = ReturnType<Fetched['connect']>;

/** Asks once. Gives the answer, for the comparison. */
type Ask = () => Promise<unknown>;

const rowsPerAppend = 10;
/** As a program that collects them has them. */
const ticks = Array.from({ length: rowsPerAppend }, (_, n) => ({
  symbol: 'BTC-USD',
  price: 100 + n / 8,
  size: n,
  good: n % 2 === 0,
}));
const ticksText = ticks.map((tick) => `${JSON.stringify(tick)}\n`).join('');

interface Operation {
  readonly name: string;
  readonly title: string;
  byClient(client: Client, handle: string): Ask;
  byFetch(server: FrameholdServer, handle: string): Ask;
  /** After each contender has asked once, of its handle. */
  check?(server: FrameholdServer, handle: string): Promise<void>;
}

export const typescriptPackageCases: readonly BenchCase[] = [
  typescriptPackageCase({
    name: 'typescript-sql',
    title: '`select 1` by sql() of the TypeScript package, in Node and over fetch, and by bare fetch, p50',
    byClient: (client) => async () => {
      const result = await client.sql('select 1');
      return { columns: result.columns, cells: (await result.rows()).map((row) => Object.values(row).map(Number)) };
    },
    byFetch: (server) => async () => {
      const { columns, dataset } = (await posted(urlOf(server, '/sql'), 'application/json', '{"sql":"select 1"}')) as {
        readonly columns: unknown;
        readonly dataset: unknown;
      };
      return { columns, cells: dataset };
    },
  }),
  typescriptPackageCase({
    name: 'typescript-append',
    title:
      'appends of ten rows by append() of the TypeScript package, in Node and over fetch, and of the same bytes by bare fetch, p50',
    byClient(client, handle) {
      const appender = client.append(handle);
      return async () => (await appender.write(ticks)).rows;
    },
    byFetch(server, handle) {
      const url = urlOf(server, `/imp?name=${handle}&append=true&format=ndjson&fmt=json`);
      return async () => {
        const told = (await posted(url, 'application/x-ndjson', ticksText)) as { readonly rowsImported: number };
        return told.rowsImported;
      };
    },
    check: (server, handle) => assertRows(server, handle, rowsPerAppend),
  }),
];

/** The package and bare fetch take turns in this process. */
function typescriptPackageCase({ name, title, byClient, byFetch, check }: Operation): BenchCase {
  return {
    name,
    title,
    unit: 'ms',
    better: 'lower',
    rounds: 9,
    bars: [
      { kind: 'ratio', against: 'bare fetch', atLeast: 1 / 1.2 },
      { kind: 'ratio', of: 'framehold, over fetch', against: 'bare fetch', atLeast: 1 / 1.2 },
    ],

    async prepare(lab, cleanup) {
      const { inNode, overFetch } = await builtPackage(lab);
      const dataDir = await mkdtemp(join(lab.folder, 'package-'));
      const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
      const url = urlOf(server, '');
      const clients = [inNode.connect(url), overFetch.connect(url)] as const;
      for (const client of clients) cleanup.defer(async () => client.close());
      const contestants = [
        { who: 'framehold', handle: 'in_node', ask: byClient(clients[0], 'in_node') },
        { who: 'framehold, over fetch', handle: 'over_fetch', ask: byClient(clients[1], 'over_fetch') },
        { who: 'bare fetch', handle: 'bare', ask: byFetch(server, 'bare') },
      ];
      return {
        contenders: contestants.map(({ who, ask }) => contender(who, ask, server.pid, lab.quick ? 50 : 1000)),
        async verify() {
          const answers: string[] = [];
          for (const { handle, ask } of contestants) {
            answers.push(JSON.stringify(await ask()));
            await check?.(server, handle);
          }
          const [first = ''] = answers;
          if (answers.some((answer) => answer !== first)) throw new Error(`the answers differ: ${answers.join(', ')}`);
          return first;
        },
      };
    },
  };
}

function contender(name: string, ask: Ask, pid: number, count: number): Contender {
  const measure = async (requests: number) => {
    const times = new Float64Array(requests);
    for (let at = 0; at < requests; at++) {
      const begunMs = performance.now();
      await ask();
      times[at] = performance.now() - begunMs;
    }
    times.sort();
    return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), requests };
  };
  return {
    name,
    beforeRound: async () => void (await measure(count / 10)),
    async measure() {
      const { result, usage } = await watch(pid, () => measure(count));
      return { value: result.p50Ms, usage, details: result };
    },
  };
}

/** The answer of a POST, which must be a success. */
async function posted(url: string, type: string, body: string): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** As it is published: the runner of these cases compiles the sources otherwise. */
async function builtPackage(lab: Lab): Promise<{ readonly inNode: InNode; readonly overFetch: Fetched }> {
  const folder = await mkdtemp(join(lab.folder, 'client-'));
  await promisify(execFile)(process.execPath, [builder, folder]);
  const load = async (entry: string): Promise<unknown> => import(pathToFileURL(join(folder, entry)).href);
  return { inNode: (await load('node.js')) as InNode, overFetch: (await load('index.js')) as Fetched };
}
