import { join } from 'node:path';
import { AppError } from '../../core/app-error.ts';
import type { JobOptions } from '../../core/frame-engine.ts';
import type { Logger } from '../../core/logger.ts';
import { Remembered } from '../../core/remembered.ts';
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
} from '../../core/sql.ts';
import { arrowFields } from '../../encoding/arrow/arrow-columns.ts';
import { columnOfField } from '../../encoding/arrow/input/column-of-field.ts';
import { endOfStream, schemaMessage } from '../../encoding/arrow/schema-message.ts';
import { recoded, resultOf } from './cluster-result.ts';
import { ConnectFailure } from './connect-failure.ts';
import type { Progress } from './connect-messages.ts';
import { execute } from './execution.ts';
import { frameRelation, handleOf, tableRelations } from './frame-relations.ts';
import { argumentsOf, unboundArguments } from './parameter-literals.ts';
import type { PathMap } from './path-map.ts';
import { type BoundArguments, limited, type Relation, rootPlan, sqlOver, writePlan } from './plan.ts';
import { type Answer, isPlannedLimit, QueryBatches } from './query-batches.ts';
import { QueryWork } from './query-work.ts';
import { readResultBatch, unreadableResult } from './result-batches.ts';
import type { SessionPool } from './session-pool.ts';
import type { Flavour, SparkSession } from './spark-session.ts';
import { columnsOfStruct } from './spark-type.ts';
import { readStatement } from './sql/read-statement.ts';
import { missingFiles } from './sql-failure.ts';
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

/** SQL over frames on a cluster, which reads the same files. */
export class SparkSqlEngine implements SqlEngine {
  readonly #options: SparkSqlEngineOptions;
  /** Versions do not change, so what a query over them gives does not. */
  readonly #descriptions = new Remembered<SqlDescription>();

  /** In whose dialect a query was read. */
  readonly #readFor = new WeakMap<Query, Flavour>();

  constructor(options: SparkSqlEngineOptions) {
    this.#options = options;
  }

  async analyze(sql: string, options: JobOptions): Promise<Statement> {
    const flavour = await this.#flavour(options);
    const statement = readStatement(sql, flavour);
    if ('query' in statement) this.#readFor.set(statement.query, flavour);
    return statement;
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
    const { name: engine, maxResultBytes, recoder } = this.#options;
    const work = await this.#start(run, options);
    const answers = (bound: BoundArguments) => this.#answers(run, bound, work);
    const batches = await QueryBatches.start({ engine, maxResultBytes, run, executions, work, answers });
    return await resultOf(batches, run, recoder, work.jobOptions);
  }

  /** Parquet files from wherever the rows are: they do not pass through the driver, nor through us. */
  async write(job: SqlWrite, options: JobOptions): Promise<readonly string[]> {
    const executions = await argumentsOf(job.query, job.parameters);
    const { pathMap } = this.#options;
    const work = await this.#start(job, options);
    return await this.#finish(work, async () => {
      const paths: string[] = [];
      for (const [index, bound] of executions.entries()) {
        let folder = job.folder;
        let tries = 0;
        await work.with(async (session) => {
          // What a server that was lost had begun to write stays behind.
          tries += 1;
          folder = join(job.folder, `rows-${index}-${tries}`);
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

  /** The answers of one execution, of which there is at least one. */
  async *#answers(run: SqlRun, bound: BoundArguments, work: QueryWork): AsyncGenerator<Answer, void, undefined> {
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

  /** No rows of parameters: no execution, but a result with the right columns. */
  async #runNothing(run: SqlRun, options: JobOptions): Promise<SqlResult> {
    const { columns } = await this.describe({ ...run, parameters: undefined }, options);
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield schemaMessage(arrowFields(columns));
      yield endOfStream;
    }
    return await recoded(stream(), run, this.#options.recoder, options);
  }

  async #columns(session: SparkSession, relation: Relation, signal: AbortSignal): Promise<SqlDescription['columns']> {
    if (session.flavour === 'spark') {
      const columns = columnsOfStruct(await session.schema(rootPlan(relation), { signal }));
      if (columns.length === 0) throw unreadableResult('its schema has no columns');
      return columns;
    }
    // Sail describes types otherwise than it sends them: unsigned integers become signed.
    for await (const { arrowBatch } of execute(session, rootPlan(limited(relation, 0)), { signal })) {
      if (arrowBatch !== undefined) {
        return readResultBatch(arrowBatch.data, arrowBatch.rowCount).fields().map(columnOfField);
      }
    }
    throw new ConnectFailure('DATA_LOSS', 'a result without a batch');
  }

  #relation({ query, tables }: SqlJob, bound: BoundArguments, { flavour }: SparkSession): Relation {
    const { name, pathMap } = this.#options;
    if ((this.#readFor.get(query) ?? flavour) !== flavour && !meansTheSame(query, flavour)) throw changedEngine(name);
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

/** Whether a query that was read in one dialect is the same in another. Throws where it is refused there. */
function meansTheSame(query: Query, flavour: Flavour): boolean {
  const statement = readStatement(query.sql, flavour);
  const shown = ({ tables, parameterCount, parameterNames }: Query): string =>
    JSON.stringify([tables, parameterCount, parameterNames]);
  return statement.kind === 'query' && shown(statement.query) === shown(query);
}

function changedEngine(name: string): AppError {
  return new AppError('engine_unreachable', `engine ${name} has become one of another kind`, {
    hint: 'run the query again',
  });
}

/** Undefined where the same text may give something else the next time. */
function descriptionKey({ query, tables, parameters }: SqlJob & Pick<SqlRun, 'parameters'>): string | undefined {
  if (parameters !== undefined || query.sql.length > longestRemembered) return undefined;
  const versions = tables.map((table) => (table.kind === 'frame' ? [table.name, table.owner, table.versionId] : table));
  return JSON.stringify([query.sql, versions]);
}
