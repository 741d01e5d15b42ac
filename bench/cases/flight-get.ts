import { join } from 'node:path';
import type { Cleanup } from '../../src/core/async/cleanup.ts';
import { authEnabled, makeTlsPair, makeTokens, type TlsPair } from '../harness/access.ts';
import type { Bar, BenchCase, Contender } from '../harness/bench-case.ts';
import { assertSameTable, type Checksums, tableSize } from '../harness/checksums.ts';
import type { Lab } from '../harness/lab.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { median } from '../harness/rounds.ts';
import type { GrpcServer } from '../harness/server-process.ts';
import type { FrameholdServer } from '../rivals/framehold.ts';
import { startPyarrow } from '../rivals/pyarrow.ts';
import { startRoapi } from '../rivals/roapi.ts';

type Table = 'lineitem' | 'trades';

interface FlightGetOptions {
  readonly name: string;
  readonly title: string;
  readonly table: Table;
  /** In GB; 0 reads Parquet for every answer. */
  readonly cacheSize: string;
  /** Over TLS and with a token. ROAPI has no TLS for Flight. */
  readonly isClosed?: boolean;
  readonly bars: readonly Bar[];
}

/** The result of `drain` of clients/flight_get.py. */
interface Drained {
  readonly seconds: number;
  readonly rows: number;
  readonly bytes: number;
  readonly batches: number;
  readonly clientCpuSeconds: number;
}

const hotCacheSize = '2.5';

export const flightGetCases: readonly BenchCase[] = [
  flightGet({
    name: 'flight-get-hot',
    title: 'all of lineitem (TPC-H SF1, 1 GB of Arrow) by DoGet, from memory; ROAPI through ADBC',
    table: 'lineitem',
    cacheSize: hotCacheSize,
    bars: [
      { kind: 'ratio', against: 'pyarrow', atLeast: 0.8 },
      { kind: 'ratio', against: 'roapi, string views', atLeast: 4 },
    ],
  }),
  flightGet({
    name: 'flight-get-tls',
    title: 'all of lineitem (TPC-H SF1, 1 GB of Arrow) by DoGet, from memory, over TLS with a token',
    table: 'lineitem',
    cacheSize: hotCacheSize,
    isClosed: true,
    bars: [{ kind: 'ratio', against: 'pyarrow', atLeast: 0.8 }],
  }),
  flightGet({
    name: 'flight-get-hot-trades',
    title: 'all of trades (1,000,000 rows) by DoGet, from memory; ROAPI through ADBC',
    table: 'trades',
    cacheSize: hotCacheSize,
    bars: [{ kind: 'ratio', against: 'pyarrow', atLeast: 0.85 }],
  }),
  flightGet({
    name: 'flight-get-cold',
    title:
      'all of lineitem (TPC-H SF1) by DoGet, from Parquet, no cache; DuckDB in process over the same file; the others from memory',
    table: 'lineitem',
    cacheSize: '0',
    bars: [
      // 1.5 times the time.
      { kind: 'ratio', against: 'duckdb', atLeast: 1 / 1.5 },
      { kind: 'ratio', against: 'roapi', atLeast: 1 },
    ],
  }),
  flightGet({
    name: 'flight-get-cold-trades',
    title:
      'all of trades (1,000,000 rows) by DoGet, from Parquet, no cache; DuckDB in process over the same file; the others from memory',
    table: 'trades',
    cacheSize: '0',
    bars: [],
  }),
];

/** One whole table, again and again, on one connection: every batch is decoded and let go. */
function flightGet({ name, title, table, cacheSize, isClosed = false, bars }: FlightGetOptions): BenchCase {
  return {
    name,
    title,
    unit: 's',
    better: 'lower',
    rounds: 5,
    bars,

    async prepare(lab, cleanup) {
      const path = table === 'trades' ? await lab.tradesPath() : join(await lab.tpchFiles(), `${table}.parquet`);
      const closing = isClosed ? await closingOf(lab, table) : undefined;
      const framehold = cleanup.use(await startHolding(lab, table, cacheSize, closing));
      const ours = await reader('framehold', framehold, { ticket: table }, lab, cleanup);
      const readers = [ours];
      const pyarrow = await lab.rival(() => startPyarrow(lab.folder, { [table]: path }, closing?.tls));
      if (pyarrow !== undefined) {
        const server = { ...cleanup.use(pyarrow), credentials: closing?.credentials };
        readers.push(await reader('pyarrow', server, { ticket: table }, lab, cleanup));
      }
      if (cacheSize === '0') readers.push(await reader('duckdb', undefined, { path }, lab, cleanup));
      if (!isClosed) readers.push(...(await roapiReaders(lab, cleanup, table, path, ours.client)));
      return {
        contenders: readers.map(({ contender }) => contender),
        async verify() {
          const expected = await ours.client.ask<Checksums>('check_file', { path });
          for (const { contender, client, source } of readers) {
            assertSameTable(expected, await client.ask<Checksums>('check', source), contender.name);
          }
          if (isClosed) await assertRefused(ours);
          return tableSize(expected);
        },
      };
    },
  };
}

interface Closing {
  readonly tls: TlsPair;
  readonly credentials: readonly string[];
}

async function closingOf(lab: Lab, table: Table): Promise<Closing> {
  const dataDir = table === 'trades' ? await lab.demoFolder() : await lab.tpchFrames();
  return { tls: await makeTlsPair(lab.folder), credentials: await makeTokens(dataDir) };
}

function startHolding(lab: Lab, table: Table, cacheSize: string, closing?: Closing): Promise<FrameholdServer> {
  const settings = { CACHE_SIZE: cacheSize, ...(closing !== undefined && { ...authEnabled, ...closing.tls.settings }) };
  const client = { credentials: closing?.credentials, ca: closing?.tls.ca };
  return table === 'trades' ? lab.startDemo(settings, client) : lab.startTpch(settings, client);
}

async function assertRefused({ client, source }: Reader): Promise<void> {
  const { authorization: _, ...stranger } = source;
  const answer = await client.ask('check', stranger).catch(String);
  if (!String(answer).includes('no credentials were sent')) throw new Error('framehold answers without a token');
}

async function roapiReaders(
  lab: Lab,
  cleanup: Cleanup,
  table: Table,
  path: string,
  client: PythonClient,
): Promise<Reader[]> {
  const tables = { [table]: await withoutViews(lab, table, path, client), ...viewsOf(table, path) };
  const roapi = await lab.rival(() => startRoapi(lab.folder, tables));
  if (roapi === undefined) return [];
  cleanup.use(roapi);
  const readers: Reader[] = [];
  for (const name of Object.keys(tables)) {
    const who = name === table ? 'roapi' : 'roapi, string views';
    readers.push(await reader(who, roapi, { sql: `select * from ${name}` }, lab, cleanup));
  }
  return readers;
}

/**
 * The files of TPC-H carry an Arrow schema with string views, which ROAPI takes over, and which cost it more than half of its speed.
 * It is measured both ways: as the files are, and with plain text.
 */
function viewsOf(table: Table, path: string): Record<string, string> {
  return table === 'trades' ? {} : { [`${table}_views`]: path };
}

async function withoutViews(lab: Lab, table: Table, path: string, client: PythonClient): Promise<string> {
  if (table === 'trades') return path;
  const copy = join(lab.folder, `${table}-plain.parquet`);
  await client.ask('copy_plain', { path, copy });
  return copy;
}

interface Reader {
  readonly contender: Contender;
  readonly client: PythonClient;
  readonly source: Readonly<Record<string, string | undefined>>;
}

/** `server`: undefined where the client reads by itself. */
async function reader(
  name: string,
  server: GrpcServer | undefined,
  what: Readonly<Record<string, string>>,
  lab: Lab,
  cleanup: Cleanup,
): Promise<Reader> {
  const client = cleanup.use(await PythonClient.start('flight_get', lab.folder));
  const source = { uri: server?.grpcUri, authorization: server?.credentials?.[0], ca: server?.ca, ...what };
  const times = lab.quick ? 1 : 3;
  const contender: Contender = {
    name,
    // The caches are warm now, and the connection is open.
    beforeRound: async () => void (await client.ask('drain', source)),
    async measure() {
      const { result, usage } = await watch(server?.pid ?? client.pid, async () => {
        const drained: Drained[] = [];
        while (drained.length < times) drained.push(await client.ask<Drained>('drain', source));
        return drained;
      });
      const value = median(result.map(({ seconds }) => seconds));
      const { rows = 0, bytes = 0, batches = 0 } = result[0] ?? {};
      const clientCpuSeconds = result.reduce((sum, drained) => sum + drained.clientCpuSeconds, 0);
      return { value, usage, details: { rows, bytes, batches, clientCpuSeconds, gbPerSecond: bytes / value / 1e9 } };
    },
  };
  return { contender, client, source };
}
