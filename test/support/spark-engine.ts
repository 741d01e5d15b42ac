import { tableFromIPC } from 'apache-arrow';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { JobOptions } from '../../src/core/rows/frame-engine.ts';
import type { ArrowRecoder, FrameTable, SqlResult, SqlRun, SqlTable } from '../../src/core/sql/sql.ts';
import { SparkEngine, type SparkEngineOptions } from '../../src/engines/spark/spark-engine.ts';

/** For tests in which nothing needs another form. */
const noRecoder: ArrowRecoder = {
  recode: async () => {
    throw new Error('the rows would have to be recoded');
  },
};

export function sparkEngine(options: Partial<SparkEngineOptions> & Pick<SparkEngineOptions, 'url'>): SparkEngine {
  return new SparkEngine({
    name: 'cluster',
    coldDirectory: '/cold',
    pathMap: undefined,
    connectTimeoutMs: 2000,
    queryTimeoutMs: 60_000,
    maxConcurrent: 4,
    maxResultBytes: 1e9,
    extraCertificatesFile: undefined,
    recoder: noRecoder,
    logger: silentLogger,
    ...options,
  });
}

/** A frame whose files are at these paths. */
export function frameTable(name: string, paths: readonly string[], rows = 1): FrameTable {
  return {
    kind: 'frame',
    name,
    frame: `tenant/${name}`,
    versionId: paths.join(),
    columns: [],
    rows,
    bytes: 1,
    parts: paths.map((path) => ({ path, rows })),
    hold: () => ({ [Symbol.dispose]() {} }),
    retired: unstopped.signal,
  };
}

export const unstopped: JobOptions = { signal: new AbortController().signal };

export async function runSql(
  engine: SparkEngine,
  sql: string,
  {
    tables = [],
    options = unstopped,
    ...run
  }: { tables?: readonly SqlTable[]; options?: JobOptions } & Partial<SqlRun> = {},
): Promise<SqlResult> {
  const statement = await engine.sql.analyze(sql, options);
  if (statement.kind !== 'query') throw new Error('not a query');
  return await engine.sql.run({ query: statement.query, tables, form: 'arrow', ...run }, options);
}

/** All rows, each an object by column. */
export async function rowsOf(result: SqlResult): Promise<Record<string, unknown>[]> {
  await using _ = result;
  const pieces: Uint8Array[] = [];
  for await (const piece of result.arrowStream()) pieces.push(piece);
  return tableFromIPC(Buffer.concat(pieces))
    .toArray()
    .map((row) => row.toJSON());
}
