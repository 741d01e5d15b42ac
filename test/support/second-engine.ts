import { join } from 'node:path';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { ClusterEngine, EngineHealth } from '../../src/core/sql/engine.ts';
import type { SqlEngine } from '../../src/core/sql/sql.ts';
import { DuckDbEngine } from '../../src/engines/duckdb/duckdb-engine.ts';
import { DuckDbSqlEngine } from '../../src/engines/duckdb/duckdb-sql-engine.ts';
import { NativeCopies } from '../../src/engines/duckdb/native-copies.ts';
import type { ClusterEngineOptions } from '../../src/server/engines.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The calls of a second engine: the method and the statement. */
export type AskedOf = (readonly [method: keyof SqlEngine, sql: string])[];

export interface SecondEngineOptions {
  readonly asked?: AskedOf;
  /** Writes files itself, as clusters do. Default false. */
  readonly writes?: boolean;
  readonly health?: () => Promise<EngineHealth>;
}

/** Another DuckDB in the place of a cluster: a real engine over the same frames, whose calls the test sees. */
export function secondEngine(
  { name, coldDirectory }: ClusterEngineOptions,
  options: SecondEngineOptions,
): ClusterEngine {
  const { asked = [], writes = false, health = async () => ({ state: 'up', version: '1.2.3' }) as const } = options;
  const cleanup = new Cleanup();
  const parts = makeParts(coldDirectory, cleanup);
  const note = async (method: keyof SqlEngine, sql: string): Promise<DuckDbSqlEngine> => {
    asked.push([method, sql]);
    return (await parts).sql;
  };
  const sql: SqlEngine = {
    analyze: async (text, job) => (await note('analyze', text)).analyze(text, job),
    describe: async (job, how) => (await note('describe', job.query.sql)).describe(job, how),
    run: async (job, how) => (await note('run', job.query.sql)).run(job, how),
    analyticsTables: async () => [],
    ...(writes && {
      write: async (job, how) => {
        await using result = await (await note('write', job.query.sql)).run({ ...job, form: 'arrow' }, how);
        const path = join(job.folder, 'part-0.parquet');
        const source = { kind: 'arrow', stream: result.arrowStream() } as const;
        const { files } = await parts;
        await files.write({ source, path, compression: { algorithm: 'snappy', level: undefined } }, how);
        return [path];
      },
    }),
  };
  const slots = { limit: 1, busy: 0, waiting: 0 };
  return {
    name,
    kind: 'spark-connect',
    sql,
    health,
    slots,
    [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
  };
}

async function makeParts(coldDirectory: string, cleanup: Cleanup) {
  const directory = cleanup.use(await temporaryDirectory());
  const limits = {
    threads: 1,
    memoryBytes: 200_000_000,
    tempDirectory: join(directory.path, 'spill'),
    maxTempBytes: 1_000_000_000,
    maxQueue: 100,
    timeoutMs: 20_000,
    logger: silentLogger,
  };
  const files = cleanup.use(new DuckDbEngine({ ...limits, workers: 1 }));
  const nativeCopies = cleanup.use(
    new NativeCopies({
      root: join(directory.path, 'warm'),
      budgetBytes: 0,
      copy: () => Promise.reject(new Error('nothing is copied')),
      logger: silentLogger,
    }),
  );
  const reach = {
    coldDirectory,
    warmDirectory: nativeCopies.directory,
    analyticsPath: join(directory.path, 'none.duckdb'),
  };
  const sql = cleanup.use(new DuckDbSqlEngine({ ...limits, workers: 1, nativeCopies, reach }));
  return { sql, files };
}
