import { setTimeout as sleep } from 'node:timers/promises';
import { LinkedAbort } from '../../../core/async/linked-abort.ts';
import { Semaphore } from '../../../core/async/semaphore.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { Logger } from '../../../core/logs/logger.ts';
import type { LiveRead } from '../../../core/sql/live-read.ts';
import type {
  ListedLiveTable,
  LiveDescription,
  LiveFile,
  LiveOptions,
  LivePlan,
  LiveStatement,
  LiveTables,
} from '../../../core/sql/live-tables.ts';
import type { Tsdb, TsdbResponse } from '../../../core/sql/tsdb.ts';
import { tooSlow } from '../upstream-failure.ts';
import { describeLive, isReadableName, refused, type Source } from './describe-live.ts';
import { changedMeanwhile, ExportFiles } from './export-file.ts';
import { exportPlan } from './export-plan.ts';
import { askJson, jsonOf, notQuestDb, QuestDbError } from './json-answer.ts';
import { KeptFiles } from './kept-files.ts';
import { questDbType } from './questdb-type.ts';

export interface QuestDbTablesOptions {
  readonly tsdb: Tsdb;
  /** For the files of this process alone. */
  readonly directory: string;
  readonly maxBytes: number;
  /** QuestDB counts every connection that has exported something, until that is closed. */
  readonly maxExports: number;
  /** Statements that may wait for an export. */
  readonly maxQueue: number;
  /** Most time for an export, with its wait. */
  readonly timeoutMs: number;
  /** How long fetched rows are reused; 0 = each statement fetches its own. */
  readonly cacheMs: number;
  readonly logger: Logger;
}

/** Others may export from the same database: most time for retries while it has no free place. */
const mostBusyMs = 2000;
/** Most time for which catalogs wait, and for which a list is reused. */
const listTimeoutMs = 1000;
const listedMs = 5000;
/** Columns beyond these are not listed: catalogs show a few times as many in all. */
const mostListedColumns = 50_000;

/** Tables of a QuestDB, as Parquet files that it exports. */
export class QuestDbTables implements LiveTables, AsyncDisposable {
  readonly #options: QuestDbTablesOptions;
  readonly #files: ExportFiles;
  readonly #kept: KeptFiles;
  readonly #exports: Semaphore;
  #listed: { readonly at: number; readonly tables: Promise<readonly ListedLiveTable[]> } | undefined;

  constructor(options: QuestDbTablesOptions) {
    const { directory, maxBytes, maxExports, maxQueue, cacheMs } = options;
    this.#options = options;
    this.#files = new ExportFiles({ directory, maxBytes });
    this.#kept = new KeptFiles(cacheMs);
    this.#exports = new Semaphore(maxExports, {
      maxWaiting: maxQueue,
      overloaded: () => busy(`all ${maxExports} exports are under way, and the queue for them is full`),
    });
  }

  async describe(read: LiveRead, options: LiveOptions): Promise<LiveDescription> {
    const source = await this.#inTime(options, (signal) => describeLive(this.#options.tsdb, read, { signal })).catch(
      (error: unknown) => {
        throw error instanceof QuestDbError ? refused(error, read.position) : error;
      },
    );
    return { columns: source.columns, source };
  }

  plan(described: LiveDescription, reads: readonly LiveRead[], statement: LiveStatement): LivePlan {
    return exportPlan(described.source as Source, reads, statement);
  }

  async fetch(plan: LivePlan, options: LiveOptions): Promise<LiveFile> {
    const key = JSON.stringify([options.tenant, plan.sql]);
    return await this.#kept.use(key, options.signal, (signal) =>
      this.#inTime({ ...options, signal }, (limited) => this.#export(plan, { ...options, signal: limited })),
    );
  }

  readonly list: LiveTables['list'] = async ({ signal, isNeeded = false }) => {
    const known = this.#listed;
    const isFresh = known !== undefined && performance.now() - known.at < listedMs;
    const tables = isFresh ? known.tables : this.#list(signal);
    if (!isFresh) this.#listed = { at: performance.now(), tables };
    try {
      return await tables;
    } catch (error) {
      signal.throwIfAborted();
      if (isNeeded) throw error instanceof AppError ? error : tooSlow(error);
      return [];
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept[Symbol.asyncDispose]();
  }

  async #list(signal: AbortSignal): Promise<readonly ListedLiveTable[]> {
    const sql = 'SELECT table_name, column_name, data_type FROM information_schema.questdb_columns()';
    try {
      using limit = new LinkedAbort([signal], listTimeoutMs);
      const { dataset } = await askJson(this.#options.tsdb, 'exec', sql, { signal: limit.signal });
      return tablesOf(dataset);
    } catch (error) {
      this.#options.logger.debug('the tables of the external database cannot be listed', { error });
      // The first caller may have left: the next one must see the tables nonetheless.
      this.#listed = undefined;
      throw error;
    }
  }

  async #export(plan: LivePlan, { tenant, signal, lane }: LiveOptions): Promise<LiveFile> {
    const source = plan.source as Source;
    const columns = source.columns.filter(({ stored }) => plan.columns.some((column) => column.stored === stored));
    const release = await this.#exports.acquire({ signal, ...(lane !== undefined && { lane }) });
    try {
      const { body } = await this.#request(plan.sql, source, signal);
      return await this.#files.write(body, tenant, { name: source.shown, columns });
    } finally {
      release();
    }
  }

  async #request(sql: string, source: Source, signal: AbortSignal): Promise<TsdbResponse> {
    const { tsdb, timeoutMs } = this.#options;
    const parameters = Object.entries({ query: sql, fmt: 'parquet', compression_codec: 'lz4_raw' });
    const statementTimeout = String(timeoutMs);
    const begunAt = performance.now();
    for (let pauseMs = 20; ; pauseMs *= 2) {
      const request = { door: 'exp', parameters, statementTimeout, acceptEncoding: undefined } as const;
      const answer = await tsdb.forward(request, { signal });
      const isFile = answer.status === 200 && answer.contentType === 'application/vnd.apache.parquet';
      if (isFile) return answer;
      const error = await jsonOf(answer).then(
        () => notQuestDb(answer.status),
        (refusal: unknown) => refusal,
      );
      if (!(error instanceof QuestDbError)) throw error;
      if (error.status !== 429) throw exportError(error, source);
      if (performance.now() - begunAt > mostBusyMs) throw busy('the external database has no place for another export');
      await sleep(pauseMs, undefined, { signal });
    }
  }

  async #inTime<T>({ signal }: LiveOptions, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    using limit = new LinkedAbort([signal], timeoutMs);
    try {
      return await act(limit.signal);
    } catch (error) {
      if (!limit.isLate) throw error;
      throw new AppError(
        'tsdb_timeout',
        `the rows of the external database were not here within ${timeoutMs / 1000} s`,
        {
          hint: 'narrow the statement, or raise tsdb.federation_timeout',
          cause: error,
        },
      );
    }
  }
}

/** The described table is gone, or has changed. */
function exportError(error: QuestDbError, source: Source): AppError {
  const { message } = error;
  if (/^timeout, query aborted/i.test(message)) {
    return new AppError('tsdb_timeout', 'the external database gave the export up: it took too long', {
      hint: 'narrow the statement, or raise tsdb.federation_timeout',
    });
  }
  if (!source.isTable) return refused(error, source.locate(error));
  if (/^Invalid column|^table does not exist/i.test(message)) return changedMeanwhile(error);
  return refused(error, source.locate(error));
}

function busy(why: string): AppError {
  return new AppError('overloaded', why, { hint: 'send the statement again shortly', retryAfterSeconds: 1 });
}

function tablesOf(dataset: unknown): readonly ListedLiveTable[] {
  const columns = new Map<string, ListedLiveTable['columns'][number][]>();
  for (const row of (Array.isArray(dataset) ? dataset : []).slice(0, mostListedColumns)) {
    const [table, name, typeName] = row as readonly unknown[];
    if (typeof table !== 'string' || typeof name !== 'string' || !isReadableName(table)) continue;
    const type = questDbType(String(typeName), { isComputed: false })?.type;
    const known = columns.get(table) ?? [];
    columns.set(table, known);
    if (type !== undefined) known.push({ name, type });
  }
  return [...columns].map(([name, all]) => ({ name, columns: all })).filter(({ columns: all }) => all.length > 0);
}
