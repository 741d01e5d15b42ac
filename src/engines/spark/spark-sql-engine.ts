import { join } from 'node:path';
import { arrowIpcStream } from '@framehold/arrow-ipc';
import type { Column, DataType } from '@framehold/columns';
import {
  type BoundArguments,
  ConnectFailure,
  execute,
  type Flavour,
  limited,
  type Relation,
  rootPlan,
  type SparkSession,
  sqlOver,
  writePlan,
} from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import { descriptionKey } from '../../core/sql/description-key.ts';
import type {
  AnalyticsTable,
  ArrowRecoder,
  Query,
  SqlDescription,
  SqlEngine,
  SqlJob,
  SqlResult,
  SqlRun,
  SqlTable,
  SqlWrite,
  Statement,
} from '../../core/sql/sql.ts';
import { LruMap } from '../../core/system/lru-map.ts';
import { AnalysedQueries } from './analysed-queries.ts';
import { recoded, resultOf } from './cluster-result.ts';
import { describedColumns, describedRows, describedStream } from './described-columns.ts';
import { frameRelation, handleOf, refuseKeptIntervals, tableRelations } from './frame-relations.ts';
import { argumentsOf, unboundArguments } from './parameter-literals.ts';
import type { PathMap } from './path-map.ts';
import { type Answer, isPlannedLimit, QueryBatches } from './query-batches.ts';
import { QueryWork } from './query-work.ts';
import { resultColumns } from './result-columns.ts';
import type { SessionPool } from './session-pool.ts';
import { filesElsewhere, missingFiles } from './sql-failure.ts';
import { timeZoneOf } from './time-zone.ts';
import { writtenFiles } from './written-files.ts';

export interface SparkSqlEngineOptions {
  readonly name: string;
  readonly sessions: SessionPool;
  readonly pathMap: PathMap;
  readonly queryTimeoutMs: number;
  readonly maxResultBytes: number;
  readonly recoder: ArrowRecoder;
}

/** SQL over frames on a cluster, which reads the same files. */
export class SparkSqlEngine implements SqlEngine {
  readonly settings = ['TimeZone'];
  readonly #options: SparkSqlEngineOptions;
  /** Versions never change, and so the columns of a query over them do not. */
  readonly #descriptions = new LruMap<SqlDescription>();

  readonly #queries = new AnalysedQueries();

  constructor(options: SparkSqlEngineOptions) {
    this.#options = options;
  }

  async analyze(sql: string, options: JobOptions): Promise<Statement> {
    return this.#queries.analyse(sql, await this.#flavour(options));
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
    if (query.isDescribed) return { columns: describedColumns, parameters: nulls(query) };
    const key = descriptionKey(job);
    const known = key === undefined ? undefined : this.#descriptions.get(key);
    if (known !== undefined) return known;
    const [bound = unboundArguments(query)] = parameters === undefined ? [] : await argumentsOf(job);
    const work = await this.#start(job, options);
    const columns = await this.#finish(work, () => this.#columns(job, bound, work));
    const description: SqlDescription = { columns, parameters: nulls(query) };
    if (key !== undefined) this.#descriptions.set(key, description);
    return description;
  }

  async #columns(job: SqlJob, bound: BoundArguments, work: QueryWork): Promise<readonly Column[]> {
    return await work.with(async (session) => {
      await this.#checkFiles(session, job.tables, work.signal);
      return await resultColumns(session, this.#relation(job, bound, session), work.signal);
    });
  }

  async run(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    if (run.query.isDescribed) return await this.#runDescribe(run, options);
    const executions = await argumentsOf(run);
    if (executions.length === 0) return await this.#runNothing(run, options);
    const { name: engine, maxResultBytes, recoder } = this.#options;
    const work = await this.#start(run, options);
    const answers = (bound: BoundArguments) => this.#answers(run, bound, work);
    const batches = await QueryBatches.start({ engine, maxResultBytes, run, executions, work, answers });
    return await resultOf(batches, run, recoder, work.jobOptions);
  }

  /** DESCRIBE: the engine is called for the columns of the query, and for nothing else. */
  async #runDescribe(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const executions = await argumentsOf(run);
    const work = await this.#start(run, options);
    const rows = await this.#finish(work, async () => {
      const all: (readonly unknown[])[] = [];
      for (const bound of executions) all.push(...describedRows(await this.#columns(run, bound, work)));
      return all;
    });
    return await recoded(describedStream(rows), run, this.#options.recoder, options);
  }

  /** Parquet files from wherever the rows are: they do not pass through the driver, nor through us. */
  async write(job: SqlWrite, options: JobOptions): Promise<readonly string[]> {
    if (job.query.isDescribed) return [];
    const executions = await argumentsOf(job);
    const { pathMap } = this.#options;
    const { isOrdered = false } = this.#queries.get(job.query) ?? {};
    const work = await this.#start(job, options);
    return await this.#finish(work, async () => {
      const paths: string[] = [];
      for (const [index, bound] of executions.entries()) {
        let tries = 0;
        const written = await work.with(async (session) => {
          // A partial result of a lost server stays behind.
          tries += 1;
          const folder = join(job.folder, `rows-${index}-${tries}`);
          await this.#checkFiles(session, job.tables, work.signal);
          const relation = this.#relation(job, bound, session);
          refuseKeptIntervals(await resultColumns(session, relation, work.signal));
          // Its files are written side by side, each with rows from everywhere: as one stream they come in their order.
          if (session.flavour === 'sail' && isOrdered) return [];
          const plan = writePlan(relation, pathMap.toCluster(folder, session.flavour, 'write'));
          for await (const _ of execute(session, plan, work));
          return (await writtenFiles(folder)) ?? (await this.#nothingWritten(session, relation, work.signal));
        });
        paths.push(...written);
      }
      return paths;
    });
  }

  /** Sail makes no file without rows; otherwise the files are not at our path. */
  async #nothingWritten(session: SparkSession, relation: Relation, signal: AbortSignal): Promise<readonly string[]> {
    let rows = session.flavour === 'sail' ? 0 : 1;
    if (rows === 0) {
      for await (const { arrowBatch } of execute(session, rootPlan(limited(relation, 1)), { signal })) {
        rows += Number(arrowBatch?.rowCount ?? 0);
      }
    }
    if (rows > 0) throw filesElsewhere(this.#options.name);
    return [];
  }

  #start({ query, tables, into, settings }: SqlJob, options: JobOptions): Promise<QueryWork> {
    const { name, sessions, pathMap, queryTimeoutMs } = this.#options;
    if (into !== undefined) throw new AppError('internal', `engine ${name} was to cast the rows of an INSERT`);
    const timeZone = timeZoneOf(settings);
    const frames = tables.filter((table) => table.kind === 'frame');
    const { sourcePosition, waitingSubqueries = 0 } = this.#queries.get(query) ?? {};
    const failures = { engine: name, pathMap, query, sourcePosition, frames };
    const work = { sessions, timeoutMs: queryTimeoutMs, failures, timeZone, waitingSubqueries };
    return QueryWork.start(work, options);
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

  /** The answers of one execution, of which there is at least one. */
  async *#answers(run: SqlRun, bound: BoundArguments, work: QueryWork): AsyncGenerator<Answer, void, undefined> {
    let responses: ReturnType<typeof execute> | undefined;
    try {
      const first = await work.with(async (session) => {
        await this.#checkFiles(session, run.tables, work.signal);
        const relation = this.#relation(run, bound, session);
        const plan = rootPlan(isPlannedLimit(run) ? limited(relation, run.toRow) : relation);
        responses = execute(session, plan, work);
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

  /** No rows of parameters: no execution, but a result with the right columns. */
  async #runNothing(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const { columns } = await this.describe({ ...run, parameters: undefined }, options);
    return await recoded(arrowIpcStream(columns, []), run, this.#options.recoder, options);
  }

  #relation({ query, tables }: SqlJob, bound: BoundArguments, { flavour }: SparkSession): Relation {
    const { name, pathMap } = this.#options;
    this.#queries.check(query, flavour, name);
    return sqlOver(query.sql, tableRelations(tables, { flavour, pathMap, names: query.tables }), bound);
  }

  /** To Sail a missing file has no rows, so it is queried for the files that it finds. */
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
}

function nulls({ parameterCount }: Query): readonly DataType[] {
  return Array.from({ length: parameterCount }, () => ({ kind: 'null' }));
}
