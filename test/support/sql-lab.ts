import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { FrameTable, SqlRun } from '../../src/core/sql/sql.ts';
import { DuckDbEngine } from '../../src/engines/duckdb/duckdb-engine.ts';
import { DuckDbSqlEngine, type DuckDbSqlEngineOptions } from '../../src/engines/duckdb/duckdb-sql-engine.ts';
import { NativeCopies, type NativeCopiesOptions } from '../../src/engines/duckdb/native-copies.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

/** A directory of Parquet files, and SQL engines that read them. */
export class SqlLab implements AsyncDisposable {
  readonly path: string;
  readonly #store: DuckDbEngine;
  readonly #noCopies: NativeCopies;
  readonly #cleanup: Cleanup;
  #files = 0;

  private constructor(path: string, cleanup: Cleanup) {
    this.path = path;
    this.#cleanup = cleanup;
    this.#store = cleanup.use(new DuckDbEngine({ ...this.#limits(), workers: 1, timeoutMs: 0 }));
    this.#noCopies = cleanup.use(this.newWarmTables({ budgetBytes: 0 }));
  }

  static async open(): Promise<SqlLab> {
    const cleanup = new Cleanup();
    const { path } = cleanup.use(await temporaryDirectory());
    return new SqlLab(path, cleanup);
  }

  newWarmTables(options: Pick<NativeCopiesOptions, 'budgetBytes'> & Partial<NativeCopiesOptions>): NativeCopies {
    return new NativeCopies({
      root: join(this.path, 'warm'),
      copy: this.copy,
      logger: silentLogger,
      ...options,
    });
  }

  readonly copy: NativeCopiesOptions['copy'] = (frame, job) => this.#store.warm(frame, job);

  newEngine(options: Partial<DuckDbSqlEngineOptions> = {}): DuckDbSqlEngine {
    const { nativeCopies = this.#noCopies } = options;
    return new DuckDbSqlEngine({
      ...this.#limits(),
      workers: 2,
      timeoutMs: 60_000,
      nativeCopies,
      reach: {
        coldDirectory: this.path,
        warmDirectory: nativeCopies.directory,
        analyticsPath: join(this.path, 'analytics.duckdb'),
      },
      ...options,
    });
  }

  async frame(name: string, sql: string): Promise<FrameTable> {
    const path = join(this.path, `part-${this.#files++}.parquet`);
    const compression = { algorithm: 'snappy', level: undefined } as const;
    const job = { source: { kind: 'sql', sql }, path, compression } as const;
    const { rows, columns, bytes } = await this.#store.write(job, { signal: never });
    const parts = [{ path, rows }];
    const hold = (): Disposable => ({ [Symbol.dispose]: () => {} });
    const versionId = `v${this.#files}`;
    return { kind: 'frame', name, frame: name, versionId, columns, rows, bytes, parts, hold, retired: never };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup[Symbol.asyncDispose]();
  }

  #limits() {
    return {
      threads: 1,
      memoryBytes: 300_000_000,
      tempDirectory: join(this.path, 'spill'),
      maxTempBytes: 10_000_000_000,
      maxQueue: 100,
      logger: silentLogger,
    };
  }
}

export async function rowsOf(
  on: DuckDbSqlEngine,
  sql: string,
  run: Partial<SqlRun> = {},
  signal = never,
): Promise<unknown[]> {
  const statement = await on.analyze(sql, { signal });
  if (statement.kind !== 'query') throw new Error('not a query');
  await using result = await on.run({ query: statement.query, tables: [], form: 'exec-json', ...run }, { signal });
  let text = '';
  for await (const piece of result.rows()) text += Buffer.from(piece.bytes).toString();
  return JSON.parse(`[${text.slice(0, -1)}]`) as unknown[];
}
