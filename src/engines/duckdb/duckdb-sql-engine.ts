import { arrowIpcStream } from '@framehold/arrow-ipc';
import { type Column, type EncodedRows, sqlTypeName } from '@framehold/columns';
import { defaultTenant, type Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import type { Definition } from '../../core/sql/definition.ts';
import { descriptionKey, longestRememberedSql } from '../../core/sql/description-key.ts';
import {
  type AnalyticsTable,
  type AnalyzeOptions,
  type ArrowRecoder,
  type FrameTable,
  isAnalytics,
  type Listed,
  type Query,
  type RecodeRows,
  type SqlDescription,
  type SqlEngine,
  type SqlJob,
  type SqlResult,
  type SqlRun,
  type SqlTable,
  type Statement,
} from '../../core/sql/sql.ts';
import { LruMap } from '../../core/system/lru-map.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import { editedText } from '../../core/text/source-text.ts';
import { analyticsFileState } from './analytics-file.ts';
import { catalogListing } from './catalog-listing.ts';
import type { NativeCopies } from './native-copies.ts';
import type { MeasuredShares } from './pool/measured-shares.ts';
import { workerEntry } from './pool/worker-entry.ts';
import { longestStallMs, type PoolFigures, type RunOptions, WorkerPool } from './pool/worker-pool.ts';
import { PrimedStream } from './primed-stream.ts';
import { encodedRows } from './protocol/encoded-rows.ts';
import type { CatalogListing, Job, QueryJob, QueryTable } from './protocol/protocol.ts';
import { refuseSettings } from './refused-settings.ts';
import { type ReachOf, type SqlReach, WorkerOwners } from './worker-owners.ts';

export interface DuckDbSqlEngineOptions {
  /** Child processes, each with one statement at a time; started with the first one, or when one is expected. */
  readonly workers: number;
  /** DuckDB's threads in each of them. */
  readonly threads: number;
  /** DuckDB's memory in each of them. */
  readonly memoryBytes: number;
  /** Folder for work larger than memory, with a subfolder for each worker. */
  readonly tempDirectory: string;
  readonly maxTempBytes: number;
  /** Spill shares of all workers of the server. Default: each worker has a limit of its own. */
  readonly spill?: MeasuredShares | undefined;
  /** Memory of all workers together. Default: each worker has a limit of its own. */
  readonly memory?: MeasuredShares | undefined;
  /** Statements that may wait for a worker. */
  readonly maxQueue: number;
  /** Most working time of a statement; 0 = without limit. */
  readonly timeoutMs: number;
  readonly reach: SqlReach;
  /** With several tenants: each has processes of its own, which can read only this. Default: all callers share them. */
  readonly reachOf?: ReachOf | undefined;
  readonly nativeCopies: NativeCopies;
  readonly logger: Logger;
}

type Admission = Pick<RunOptions, 'isLetIn' | 'spentMs'>;

/** Columns of a description: a thousand are cached, and of wide frames they would take gigabytes. */
const mostRememberedColumns = 256;

/** Parked children for each worker. */
const mostParkedPerWorker = 4;

/** Callers' SQL, in child processes that do nothing else: locked in, killed when they do not stop, replaced when they die. */
export class DuckDbSqlEngine implements SqlEngine, ArrowRecoder, AsyncDisposable {
  readonly hasViews = true;
  readonly #pool: WorkerPool;
  readonly #nativeCopies: NativeCopies;
  readonly #owners: WorkerOwners;
  /** Analyses by text: they do not depend on the frames, and asking a worker takes as long as a short query. */
  readonly #statements = new LruMap<Statement>();
  /**
   * Queries that passed the gate. Only these are sent to workers. The first run of a query counts the time of its analysis, and the
   * queue limit does not apply to it: the wait for the analysis would have been for nothing, and under load hardly any would end.
   */
  readonly #gated = new WeakMap<Query, Admission>();
  /** The tables of the operator's database, and the state of its file when they were read. */
  #analytics: { readonly state: string; readonly tables: readonly AnalyticsTable[] } | undefined;
  /** Versions never change, and so the columns of a query over them do not. */
  readonly #descriptions = new LruMap<SqlDescription>();

  constructor(options: DuckDbSqlEngineOptions) {
    const { threads, memoryBytes, tempDirectory, maxTempBytes, nativeCopies } = options;
    this.#nativeCopies = nativeCopies;
    this.#owners = new WorkerOwners(options.reach, nativeCopies, options.reachOf);
    this.#pool = new WorkerPool({
      entry: workerEntry(),
      workers: options.workers,
      mostParked: mostParkedPerWorker * options.workers,
      maxQueue: options.maxQueue,
      spill: options.spill,
      memory: options.memory,
      stallMs: longestStallMs,
      timeoutMs: options.timeoutMs,
      logger: options.logger,
      warm: false,
      settings: {
        threads,
        writeThreads: threads,
        memoryBytes,
        tempDirectory,
        maxTempBytes,
        lowPriority: false,
      },
    });
  }

  /** Process ids of the children. */
  get pids(): readonly number[] {
    return this.figures.pids;
  }

  get figures(): PoolFigures {
    return this.#pool.figures;
  }

  /** Statements will follow: the first one then need not wait for its process. */
  expect(tenant?: Tenant): void {
    const { everyone } = this.#owners;
    if (everyone !== undefined) this.#pool.expect(everyone);
    // The statement itself reports the fault.
    else
      this.#owners.of(tenant).then(
        (owner) => this.#pool.expect(owner),
        () => {},
      );
  }

  known(sql: string, tenant: Tenant | undefined, definitions: readonly Definition[] = []): Statement | undefined {
    return this.#statements.get(statementKey(sql, tenant, definitions));
  }

  async analyze(sql: string, { definitions = [], ...options }: AnalyzeOptions): Promise<Statement> {
    const known = this.known(sql, options.tenant, definitions);
    if (known !== undefined) return known;
    let spentMs = 0;
    const onSpent = (ms: number): void => {
      spentMs = ms;
    };
    const owner = await this.#owners.of(options.tenant);
    const statement = (await this.#pool.call(
      { kind: 'analyze', sql, definitions },
      { ...options, owner, onSpent },
    )) as Statement;
    if (sql.length <= longestRememberedSql)
      this.#statements.set(statementKey(sql, options.tenant, definitions), statement);
    if ('query' in statement) this.#gated.set(statement.query, { isLetIn: true, spentMs });
    if ('unnamed' in statement && statement.unnamed?.source !== undefined)
      this.#gated.set(statement.unnamed.source.query, {});
    if ('onConflict' in statement && statement.onConflict !== undefined)
      this.#gated.set(statement.onConflict.query, {});
    if ('returning' in statement && statement.returning !== undefined) this.#gated.set(statement.returning, {});
    return statement;
  }

  /** Facts that the run takes over from the analysis, once. Undefined: the query has not passed the gate. */
  #admit(query: Query): Admission | undefined {
    const admission = this.#gated.get(query);
    if (admission !== undefined) this.#gated.set(query, {});
    return admission;
  }

  /** Also those of views: their texts are stored on disk. */
  #assertGated(tables: readonly SqlTable[]): void {
    const isGated = (table: SqlTable): boolean => table.kind !== 'view' || this.#gated.has(table.query);
    if (!tables.every(isGated)) throw new Error('a view has a query that did not pass the gate');
  }

  /** Queries of our own pass the gate, too. */
  async #gateOwn({ sql }: Query, options: JobOptions): Promise<Admission> {
    const statement = await this.analyze(sql, options);
    if (statement.kind !== 'query' || statement.query.sql !== sql) throw new Error('only a query can be run');
    return this.#admit(statement.query) ?? {};
  }

  async describe(job: SqlJob & Pick<SqlRun, 'parameters'>, options: JobOptions): Promise<SqlDescription> {
    const { tenant } = options;
    this.#assertGated(job.tables);
    refuseSettings(job);
    const own = descriptionKey(job);
    const key = own === undefined ? undefined : `${tenant ?? defaultTenant} ${own}`;
    const known = key === undefined ? undefined : this.#descriptions.get(key);
    if (known !== undefined) return known;
    const { parameters } = job;
    const admission = this.#admit(job.query) ?? (await this.#gateOwn(job.query, options));
    const owner = await this.#owners.of(tenant, job.tables);
    const listing = await listingOf(job, options.signal);
    const ask = (): Promise<unknown> => {
      const shown = queryJob(job, listing, (table) => this.#nativeCopies.find(table, tenant));
      const input = only(parameters);
      return this.#pool.call({ kind: 'describe', ...shown }, { ...options, ...admission, owner, input });
    };
    const description = (await this.#withoutBadCopies(job.tables, options, ask)) as SqlDescription;
    if (key !== undefined && description.columns.length <= mostRememberedColumns)
      this.#descriptions.set(key, description);
    return description;
  }

  async run(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const { signal, lane, tenant, span, costs } = options;
    const { form, fromRow, columns, countAll, parameters, isKept } = run;
    this.#assertGated(run.tables);
    refuseSettings(run);
    // JSON, in which jobs travel, has no infinity.
    const toRow = run.toRow === Infinity ? undefined : run.toRow;
    const admission = this.#admit(run.query) ?? (await this.#gateOwn(run.query, options));
    const owner = await this.#owners.of(tenant, run.tables);
    const listing = await listingOf(run, signal);
    const start = (): Promise<DuckDbSqlResult> => {
      const shown = queryJob(run, listing, (table) => this.#nativeCopies.use(table, tenant));
      const job: Job = { kind: 'query', ...shown, form, fromRow, toRow, columns, countAll, isKept };
      let whole: readonly Buffer[] | undefined;
      const messages = this.#pool.run(job, {
        signal,
        lane,
        span,
        costs,
        owner,
        ...admission,
        countsReader: isKept,
        input: only(parameters),
        takeWhole: (all) => {
          whole = all;
          if (costs !== undefined) for (const { length } of all) costs.bytes += length;
        },
      });
      const failed = (error: unknown): void => void this.#refuseCopies(run.tables, tenant, error);
      return DuckDbSqlResult.start(messages, { failed }, () => whole);
    };
    return await this.#withoutBadCopies(run.tables, options, start);
  }

  /** A reader with enough rows stops the stream: its iterator is closed. */
  async recode(stream: AsyncIterable<Uint8Array>, wanted: RecodeRows, options: JobOptions): Promise<SqlResult> {
    const { form, fromRow, columns, countAll, isKept: countsReader } = wanted;
    const toRow = wanted.toRow === Infinity ? undefined : wanted.toRow;
    const input = await PrimedStream.of(stream, options.signal);
    const close = (): void => input.close();
    try {
      const job: Job = { kind: 'recode', form, fromRow, toRow, columns, countAll };
      // The other engine has worked for these rows already: they may wait, however many others do.
      const owner = await this.#owners.of(options.tenant);
      const messages = this.#pool.run(job, { ...options, owner, isLetIn: true, countsReader, input });
      return await DuckDbSqlResult.start(messages, { ended: close });
    } catch (error) {
      close();
      throw error;
    }
  }

  async analyticsTables(options: JobOptions): Promise<readonly AnalyticsTable[]> {
    const owner = await this.#owners.of(options.tenant);
    // Taken before the read: later writes are seen the next time.
    const state = await analyticsFileState(owner.sql?.analyticsPath);
    const known = this.#analytics;
    if (state !== undefined && known?.state === state) return known.tables;
    const tables = (await this.#pool.call({ kind: 'analyticsTables' }, { ...options, owner })) as AnalyticsTable[];
    if (state !== undefined) this.#analytics = { state, tables };
    return tables;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  /** Once more, from the frames themselves, where a copy may be to blame. */
  async #withoutBadCopies<T>(
    tables: readonly SqlTable[],
    { signal, tenant }: JobOptions,
    act: () => Promise<T>,
  ): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !this.#refuseCopies(tables, tenant, error)) throw error;
      return await act();
    }
  }

  /** True where a copy of one of the frames may be to blame. */
  #refuseCopies(tables: readonly SqlTable[], tenant: Tenant | undefined, error: unknown): boolean {
    if (!(error instanceof AppError) || error.code !== 'frame_damaged') return false;
    const frames = tables.filter((table) => table.kind === 'frame');
    return frames.map(({ versionId }) => this.#nativeCopies.refuse(versionId, tenant)).includes(true);
  }
}

/** Path of a frame's native copy; undefined if its own files are read. */
type WarmPath = (table: FrameTable) => string | undefined;

const noneListed: Listed = { tables: [], definitions: [] };

/** For a query that reads catalogs. */
async function listingOf(
  { query, listed = noneListed }: SqlJob,
  signal: AbortSignal,
): Promise<CatalogListing | undefined> {
  return query.readsCatalogs ? await catalogListing(listed, signal) : undefined;
}

function queryJob(
  job: SqlJob & Pick<SqlRun, 'parameters'>,
  listing: CatalogListing | undefined,
  warm: WarmPath,
): QueryJob {
  const { tables, into, constraints, settings, parameters } = job;
  const query = runQuery(job.query);
  const shown = tables.map((table) => queryTable(table, warm));
  return { query, tables: shown, into, constraints, settings, hasParameters: parameters !== undefined, listing };
}

/** With the names of its reads of the external database. */
function runQuery(query: Query): Query {
  const { live, ...own } = query;
  return live === undefined ? query : { ...own, sql: editedText(query.sql, live.edits).sql };
}

function queryTable(table: SqlTable, warmPath: WarmPath): QueryTable {
  const { name } = table;
  if (table.kind === 'list') return { name, source: table };
  const { schema } = table;
  if (table.kind === 'changes') {
    const { like, ...source } = table;
    return { name, schema, casts: like && castsOf(like), source };
  }
  if (table.kind === 'view') {
    const columns = table.columns.map((column) => column.name);
    const { query, isBarrier } = table;
    const analyticsTables = query.tables.filter(isAnalytics);
    const { sql } = runQuery(query);
    const readsRowIds = query.rowIds !== undefined;
    return { name, schema, source: { kind: 'view', sql, columns, analyticsTables, readsRowIds, isBarrier } };
  }
  if (table.kind === 'live') {
    const { path, note } = table;
    const columns = table.columns.map(({ type, ...column }) => ({ ...column, type: sqlTypeName(type) }));
    return { name, schema, source: { kind: 'live', path, note, columns } };
  }
  const { parts, columns, range, rowNumbers, definition } = table;
  if (definition !== undefined) return { name, schema, source: { kind: 'defined', ...definition } };
  if (rowNumbers !== undefined)
    return { name, schema, casts: castsOf(table), source: { kind: 'numbered', parts, columns, number: rowNumbers } };
  const casts = castsOf(table);
  if (range !== undefined)
    return { name, schema, casts, source: { kind: 'range', rows: { kind: 'parquet', parts, columns, range } } };
  const warm = warmPath(table);
  const isUniform = table.parts.every(({ columnCount }) => columnCount === undefined);
  const files = {
    parts: table.parts.map(({ isElsewhere: _, ...part }) => part),
    columns: isUniform ? [] : table.columns,
  };
  return {
    name,
    schema,
    casts,
    source: warm === undefined ? { kind: 'parquet', ...files } : { kind: 'warm', path: warm, ...files },
  };
}

/** SQL gives a repeated column name another name, and reads that column without a cast. */
function castsOf({ columns, readAs }: Pick<FrameTable, 'columns' | 'readAs'>): QueryTable['casts'] {
  if (readAs === undefined) return undefined;
  const counts = new Map<string, number>();
  for (const { name } of columns) counts.set(asciiLower(name), (counts.get(asciiLower(name)) ?? 0) + 1);
  return readAs.flatMap((type, index) => {
    const { name = '' } = columns[index] ?? {};
    const isOnly = name !== '' && counts.get(asciiLower(name)) === 1;
    return type !== null && isOnly ? [{ column: name, type }] : [];
  });
}

/** Keyed by tenant: the response time must not show what other tenants ran. */
function statementKey(sql: string, tenant: Tenant = defaultTenant, definitions: readonly Definition[] = []): string {
  return `${tenant} ${definitions.map(({ id }) => id).join()} ${sql}`;
}

function only(bytes: Uint8Array | undefined): AsyncIterable<Uint8Array> | undefined {
  if (bytes === undefined) return undefined;
  return (async function* () {
    yield bytes;
  })();
}

/** By their text, so that equal columns are the same list, by which derived values are cached. */
const knownColumns = new LruMap<readonly Column[]>();

function columnsOf(message: Buffer): readonly Column[] {
  const text = message.toString();
  const known = knownColumns.get(text);
  if (known !== undefined) return known;
  const columns = JSON.parse(text) as Column[];
  if (text.length <= longestRememberedSql) knownColumns.set(text, columns);
  return columns;
}

interface ResultEvents {
  readonly failed?: (error: unknown) => void;
  /** However it ended. */
  readonly ended?: () => void;
}

class DuckDbSqlResult implements SqlResult {
  readonly columns: readonly Column[];
  readonly #messages: AsyncGenerator<Buffer, unknown, undefined>;
  readonly #events: ResultEvents;
  readonly whole: readonly EncodedRows[] | undefined;
  totalRows = 0;

  private constructor(
    columns: readonly Column[],
    messages: AsyncGenerator<Buffer, unknown, undefined>,
    events: ResultEvents,
    whole?: readonly EncodedRows[],
  ) {
    this.columns = columns;
    this.whole = whole;
    this.#messages = messages;
    this.#events = events;
  }

  static async start(
    messages: AsyncGenerator<Buffer, unknown, undefined>,
    events: ResultEvents,
    takenWhole?: () => readonly Buffer[] | undefined,
  ): Promise<DuckDbSqlResult> {
    const first = await messages.next();
    if (first.done !== true) return new DuckDbSqlResult(columnsOf(first.value), messages, events);
    const [columns, ...rows] = takenWhole?.() ?? [];
    if (columns === undefined) throw new Error('a query ended without its columns');
    const result = new DuckDbSqlResult(columnsOf(columns), messages, events, rows.map(encodedRows));
    result.totalRows = (first.value as { totalRows: number }).totalRows;
    return result;
  }

  async *rows(): AsyncGenerator<EncodedRows, void, undefined> {
    if (this.whole !== undefined) {
      yield* this.whole;
      return;
    }
    for (;;) {
      const step = await this.#messages.next().catch((error: unknown) => {
        this.#events.failed?.(error);
        this.#events.ended?.();
        throw error;
      });
      if (step.done === true) {
        this.totalRows = (step.value as { totalRows: number }).totalRows;
        this.#events.ended?.();
        return;
      }
      yield encodedRows(step.value);
    }
  }

  arrowStream(): AsyncGenerator<Uint8Array, void, undefined> {
    return arrowIpcStream(this.columns, this.rows());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#messages.return(undefined);
    this.#events.ended?.();
  }
}
