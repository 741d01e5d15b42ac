import { join } from 'node:path';
import { AppError } from '../../core/app-error.ts';
import type { JobOptions } from '../../core/frame-engine.ts';
import type { Logger } from '../../core/logger.ts';
import { Remembered } from '../../core/remembered.ts';
import type {
  AnalyticsTable,
  ArrowRecoder,
  SqlDescription,
  SqlEngine,
  SqlJob,
  SqlResult,
  SqlRun,
  SqlTable,
  SqlWrite,
  Statement,
} from '../../core/sql.ts';
import { arrowFields } from '../../encoding/arrow/arrow-columns.ts';
import { columnsOf, hasOwnLayout } from '../../encoding/arrow/input/arrow-data-type.ts';
import { endOfStream, schemaMessage } from '../../encoding/arrow/schema-message.ts';
import { ConnectFailure } from './connect-failure.ts';
import type { Progress } from './connect-messages.ts';
import { execute } from './execution.ts';
import { frameRelation, handleOf, tableRelations } from './frame-relations.ts';
import { argumentsOf, noArguments, unboundArguments } from './parameter-literals.ts';
import { PassedOnResult } from './passed-on-result.ts';
import type { PathMap } from './path-map.ts';
import { type BoundArguments, limited, type Relation, rootPlan, sqlOver, writePlan } from './plan.ts';
import { QueryWork } from './query-work.ts';
import { type ResultBatch, readResultBatch } from './result-batches.ts';
import type { SessionPool } from './session-pool.ts';
import type { Flavour, SparkSession } from './spark-session.ts';
import { columnsOfStruct } from './spark-type.ts';
import { readStatement } from './sql/read-statement.ts';
import { missingFiles, resultTooLarge } from './sql-failure.ts';
import { writtenFiles } from './written-files.ts';

export interface SparkSqlEngineOptions {
  readonly name: string;
  readonly sessions: SessionPool;
  readonly pathMap: PathMap;
  readonly queryTimeoutMs: number;
  readonly maxResultBytes: number;
  readonly recoder: ArrowRecoder;
  readonly logger: Logger;
}

const longestRemembered = 10_000;
/** Spark gathers a LIMIT in one task, which takes longer than to stop a query in its middle where it is large. */
const largestPlannedLimit = 10_000;

/** SQL over frames on a cluster, which reads the same files. */
export class SparkSqlEngine implements SqlEngine {
  readonly #options: SparkSqlEngineOptions;
  /** Versions do not change, so what a query over them gives does not. */
  readonly #descriptions = new Remembered<SqlDescription>();

  constructor(options: SparkSqlEngineOptions) {
    this.#options = options;
  }

  async analyze(sql: string, options: JobOptions): Promise<Statement> {
    return readStatement(sql, await this.#flavour(options));
  }

  async #flavour(options: JobOptions): Promise<Flavour> {
    const known = this.#options.sessions.flavour;
    if (known !== undefined) return known;
    const work = await this.#start({ query: { sql: '', tables: [], parameterCount: 0 }, tables: [] }, options);
    return await this.#finish(work, () => work.with(async ({ flavour }) => flavour));
  }

  async analyticsTables(): Promise<readonly AnalyticsTable[]> {
    return [];
  }

  async describe(job: SqlJob & Pick<SqlRun, 'parameters'>, options: JobOptions): Promise<SqlDescription> {
    const { query, parameters } = job;
    const key = descriptionKey(job);
    const known = key === undefined ? undefined : this.#descriptions.get(key);
    if (known !== undefined) return known;
    const [bound = unboundArguments(query)] = parameters === undefined ? [] : await argumentsOf(query, parameters);
    const work = await this.#start(job, options);
    const columns = await this.#finish(work, () =>
      work.with(async (session) => {
        await this.#checkFiles(session, job.tables, work.signal);
        return await this.#columns(session, this.#relation(job, bound, session), work.signal);
      }),
    );
    const description: SqlDescription = {
      columns,
      parameters: Array.from({ length: query.parameterCount }, () => ({ kind: 'null' })),
    };
    if (key !== undefined) this.#descriptions.set(key, description);
    return description;
  }

  async run(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const executions = await argumentsOf(run.query, run.parameters);
    if (executions.length === 0) return await this.#runNothing(run, options);
    const work = await this.#start(run, options);
    const batches = this.#batches(run, executions, work);
    const first = await batches.next();
    if (first.done === true) throw new Error('a query ended without its columns');
    if (isPassedOn(run, executions.length, first.value)) {
      return new PassedOnResult(columnsOf(first.value.fields()), first.value, batches);
    }
    return await this.#recode(run, ipcStream(first.value, batches), batches, work.signal);
  }

  /** Parquet files from wherever the rows are: they do not pass through the driver, nor through us. */
  async write(job: SqlWrite, options: JobOptions): Promise<readonly string[]> {
    const executions = await argumentsOf(job.query, job.parameters);
    const { pathMap } = this.#options;
    const work = await this.#start(job, options);
    return await this.#finish(work, async () => {
      const paths: string[] = [];
      for (const [index, bound] of executions.entries()) {
        const folder = join(job.folder, `rows-${index}`);
        await work.with(async (session) => {
          await this.#checkFiles(session, job.tables, work.signal);
          const plan = writePlan(this.#relation(job, bound, session), pathMap.toCluster(folder));
          for await (const _ of execute(session, plan, this.#execution(work.signal)));
        });
        paths.push(...(await writtenFiles(folder)));
      }
      return paths;
    });
  }

  #start({ query, tables, into }: SqlJob, options: JobOptions): Promise<QueryWork> {
    const { name, sessions, pathMap, queryTimeoutMs } = this.#options;
    if (into !== undefined) {
      throw new AppError('sql_forbidden', `INSERT does not run on engine ${name}`, {
        hint: 'run it on the local engine, or make a new frame: CREATE TABLE name AS SELECT …',
      });
    }
    const frames = tables.filter((table) => table.kind === 'frame');
    const failures = { engine: name, pathMap, sql: query.sql, frames };
    return QueryWork.start({ sessions, timeoutMs: queryTimeoutMs, failures }, options);
  }

  /** Does all of some work, and ends it either way. */
  async #finish<T>(work: QueryWork, act: () => Promise<T>): Promise<T> {
    try {
      const result = await act();
      work.end({ isSound: true });
      return result;
    } catch (thrown) {
      throw await work.failed(thrown);
    }
  }

  async *#batches(
    run: SqlRun,
    executions: readonly BoundArguments[],
    work: QueryWork,
  ): AsyncGenerator<ResultBatch, void, undefined> {
    const { name, maxResultBytes } = this.#options;
    const lastRow = run.countAll === true ? Infinity : (run.toRow ?? Infinity);
    let rows = 0;
    let bytes = 0;
    try {
      for (const bound of executions) {
        for await (const { rowCount, data } of this.#answers(run, bound, work)) {
          bytes += data.length;
          if (bytes > maxResultBytes) throw resultTooLarge(name, `the ${maxResultBytes} bytes that may be read`);
          const batch = readResultBatch(data, rowCount);
          rows += batch.rows;
          // What the reader takes is not the query's time.
          if (run.isKept !== true) work.pauseDeadline();
          yield batch;
          if (run.isKept !== true) work.resumeDeadline();
          if (rows >= lastRow) return;
        }
      }
    } catch (thrown) {
      throw await work.failed(thrown);
    } finally {
      work.end({ isSound: !work.signal.aborted });
    }
  }

  /** The answers of one execution, of which there is at least one. */
  async *#answers(run: SqlRun, bound: BoundArguments, work: QueryWork) {
    let responses: ReturnType<typeof execute> | undefined;
    try {
      const first = await work.with(async (session) => {
        await this.#checkFiles(session, run.tables, work.signal);
        const relation = this.#relation(run, bound, session);
        const plan = rootPlan(isPlannedLimit(run) ? limited(relation, run.toRow) : relation);
        responses = execute(session, plan, this.#execution(work.signal));
        return await responses.next();
      });
      if (first.done === true || responses === undefined)
        throw new ConnectFailure('DATA_LOSS', 'a result without a batch');
      if (first.value.arrowBatch !== undefined) yield first.value.arrowBatch;
      for await (const { arrowBatch } of responses) if (arrowBatch !== undefined) yield arrowBatch;
    } finally {
      await responses?.return();
    }
  }

  async #recode(
    run: SqlRun,
    stream: AsyncIterable<Uint8Array>,
    source: AsyncGenerator<unknown> | undefined,
    signal: AbortSignal,
  ): Promise<SqlResult> {
    const { form, fromRow, toRow, columns, countAll, isKept } = run;
    try {
      const result = await this.#options.recoder.recode(
        stream,
        { form, fromRow, toRow, columns, countAll, isKept },
        { signal },
      );
      return {
        columns: result.columns,
        rows: () => result.rows(),
        arrowStream: () => result.arrowStream(),
        get totalRows() {
          return result.totalRows;
        },
        async [Symbol.asyncDispose]() {
          await result[Symbol.asyncDispose]();
          await source?.return(undefined);
        },
      };
    } catch (thrown) {
      await source?.return(undefined);
      throw thrown;
    }
  }

  /** No rows of parameters: no execution, but a result with the right columns. */
  async #runNothing(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const { columns } = await this.describe({ ...run, parameters: undefined }, options);
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield schemaMessage(arrowFields(columns));
      yield endOfStream;
    }
    return await this.#recode(run, stream(), undefined, options.signal);
  }

  async #columns(session: SparkSession, relation: Relation, signal: AbortSignal): Promise<SqlDescription['columns']> {
    if (session.flavour === 'spark') return columnsOfStruct(await session.schema(rootPlan(relation), { signal }));
    // Sail describes types otherwise than it sends them: unsigned integers become signed.
    for await (const { arrowBatch } of execute(session, rootPlan(limited(relation, 0)), { signal })) {
      if (arrowBatch !== undefined) return columnsOf(readResultBatch(arrowBatch.data, arrowBatch.rowCount).fields());
    }
    throw new ConnectFailure('DATA_LOSS', 'a result without a batch');
  }

  #relation({ query, tables }: SqlJob, bound: BoundArguments = noArguments, { flavour }: SparkSession): Relation {
    const { pathMap } = this.#options;
    return sqlOver(query.sql, tableRelations(tables, { flavour, pathMap, names: query.tables }), bound);
  }

  /** To Sail a file that is not there is one without rows, so that it must be asked what it finds. */
  async #checkFiles(session: SparkSession, tables: readonly SqlTable[], signal: AbortSignal): Promise<void> {
    if (session.flavour !== 'sail') return;
    const { name, pathMap } = this.#options;
    const check = async (table: SqlTable): Promise<void> => {
      if (table.kind !== 'frame') return;
      const found = await session.inputFiles(rootPlan(frameRelation(table, { flavour: 'sail', pathMap })), { signal });
      if (found.length !== table.parts.length) throw missingFiles(name, handleOf(table));
    };
    await Promise.all(tables.map(check));
  }

  #execution(signal: AbortSignal) {
    const { logger, name } = this.#options;
    const onProgress = ({ stages, numInflightTasks }: Progress): void => {
      const sum = (of: (stage: (typeof stages)[number]) => bigint): number =>
        Number(stages.reduce((all, each) => all + of(each), 0n));
      logger.debug('query progress', {
        engine: name,
        tasks: sum((stage) => stage.numTasks),
        completed: sum((stage) => stage.numCompletedTasks),
        running: Number(numInflightTasks),
        bytesRead: sum((stage) => stage.inputBytesRead),
      });
    };
    return { signal, onProgress };
  }
}

/** Whether the cluster itself cuts the result. */
function isPlannedLimit(run: SqlRun): run is SqlRun & { readonly toRow: number } {
  return run.toRow !== undefined && run.toRow <= largestPlannedLimit && run.countAll !== true;
}

/** Whether what the cluster sends is what the caller shall get. */
function isPassedOn(run: SqlRun, executions: number, first: ResultBatch): boolean {
  if (run.form !== 'arrow' || run.columns !== undefined || (run.fromRow ?? 0) > 0 || !first.isPlain) return false;
  const isWhole = run.toRow === undefined || run.toRow === Infinity || (isPlannedLimit(run) && executions === 1);
  return isWhole && first.fields().every(hasOwnLayout);
}

/** One stream out of many: the schema once, then all that follows it. */
async function* ipcStream(
  first: ResultBatch,
  rest: AsyncGenerator<ResultBatch, void, undefined>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first.schema;
    for (const { bytes } of first.messages) yield bytes;
    for await (const { messages } of rest) for (const { bytes } of messages) yield bytes;
    yield endOfStream;
  } finally {
    await rest.return();
  }
}

/** Undefined where the same text may give something else the next time. */
function descriptionKey({ query, tables, parameters }: SqlJob & Pick<SqlRun, 'parameters'>): string | undefined {
  if (parameters !== undefined || query.sql.length > longestRemembered) return undefined;
  const versions = tables.map((table) => (table.kind === 'frame' ? [table.name, table.owner, table.versionId] : table));
  return JSON.stringify([query.sql, versions]);
}
