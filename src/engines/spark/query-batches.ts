import { hasOwnLayout, type ReceivedField, toColumn } from '@framehold/arrow-ipc';
import type { Column } from '@framehold/columns';
import { type BoundArguments, ConnectFailure } from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';
import type { SqlRun } from '../../core/sql/sql.ts';
import type { QueryWork } from './query-work.ts';
import { type ResultBatch, readResultBatch } from './result-batches.ts';
import { resultTooLarge } from './sql-failure.ts';

/** Spark gathers a LIMIT in one task, which takes longer than to stop a query in its middle where it is large. */
const largestPlannedLimit = 10_000;

/** Whether the cluster itself cuts the result. */
export function isPlannedLimit(run: SqlRun): run is SqlRun & { readonly toRow: number } {
  return run.toRow !== undefined && run.toRow <= largestPlannedLimit && run.countAll !== true;
}

/** An answer of the cluster: an Arrow IPC stream, and its expected number of rows. */
export interface Answer {
  readonly rowCount: bigint;
  readonly data: Uint8Array;
}

export interface QueryBatchesOptions {
  readonly engine: string;
  readonly maxResultBytes: number;
  readonly run: SqlRun;
  /** Run one after the other. */
  readonly executions: readonly BoundArguments[];
  readonly work: QueryWork;
  /** Those of one execution, of which there is at least one. */
  answers(bound: BoundArguments): AsyncIterable<Answer>;
}

/** The facts of all batches, from the first one. */
interface Head {
  readonly schema: Uint8Array;
  readonly layout: string;
  readonly columns: readonly Column[];
  /** Whether the cluster's bytes go to the caller unchanged. */
  readonly isPassedOn: boolean;
}

/** All batches of a query under one schema. However they end, the query's work ends with them. */
export class QueryBatches {
  readonly head: Head;
  readonly first: ResultBatch;
  /** The batches behind the first. */
  readonly rest: AsyncGenerator<ResultBatch, void, undefined>;

  private constructor(head: Head, first: ResultBatch, rest: AsyncGenerator<ResultBatch, void, undefined>) {
    this.head = head;
    this.first = first;
    this.rest = rest;
  }

  /** Waits for the first. */
  static async start(options: QueryBatchesOptions): Promise<QueryBatches> {
    let head: Head | undefined;
    const batches = readBatches(options, (batch) => {
      if (head === undefined) head = headOf(batch, options);
      else checkAlike(batch, head, options);
    });
    const first = await batches.next();
    if (first.done === true || head === undefined) throw new Error('a query ended without its columns');
    return new QueryBatches(head, first.value, batches);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ResultBatch, void, undefined> {
    try {
      yield this.first;
      yield* this.rest;
    } finally {
      await this.end();
    }
  }

  async end(): Promise<void> {
    await this.rest.return();
  }
}

async function* readBatches(
  { engine, maxResultBytes, run, executions, work, answers }: QueryBatchesOptions,
  check: (batch: ResultBatch) => void,
): AsyncGenerator<ResultBatch, void, undefined> {
  const lastRow = run.countAll === true ? Infinity : (run.toRow ?? Infinity);
  let rows = 0;
  let bytes = 0;
  try {
    for (const bound of executions) {
      for await (const { rowCount, data } of answers(bound)) {
        bytes += data.length;
        // A kept result goes on to the disk.
        if (bytes > maxResultBytes && run.isKept !== true)
          throw resultTooLarge(engine, `the ${maxResultBytes} bytes that may be read`);
        const batch = readResultBatch(data, rowCount);
        check(batch);
        rows += batch.rows;
        // The reader's time is not the query's time.
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

function headOf(batch: ResultBatch, { run, executions }: QueryBatchesOptions): Head {
  const fields = batch.fields();
  const isWhole = run.toRow === undefined || run.toRow === Infinity || (isPlannedLimit(run) && executions.length === 1);
  // With a time zone of its own the timestamps are in another zone than UTC.
  const hasOwnZone = run.settings !== undefined;
  const isAsAsked =
    run.form === 'arrow' && !hasOwnZone && run.columns === undefined && (run.fromRow ?? 0) === 0 && isWhole;
  return {
    schema: batch.schema,
    layout: layoutsOf(fields),
    columns: fields.map(toColumn),
    isPassedOn: isAsAsked && batch.isPlain && fields.every(hasOwnLayout),
  };
}

/** Parameters may change a result's types from one row to the next, and one stream has one schema. */
function checkAlike(batch: ResultBatch, head: Head, { executions }: QueryBatchesOptions): void {
  if (head.isPassedOn && !batch.isPlain) {
    throw new ConnectFailure('DATA_LOSS', 'the form of a result changed in its middle');
  }
  if (Buffer.compare(batch.schema, head.schema) === 0 || layoutsOf(batch.fields()) === head.layout) return;
  if (executions.length === 1) throw new ConnectFailure('DATA_LOSS', 'the schema of a result changed in its middle');
  throw new AppError('sql_error', 'the rows of parameters give results of different types');
}

/** All by which values are read. Names are not: Spark calls a column after the values of its parameters. */
function layoutsOf(fields: readonly ReceivedField[]): string {
  return JSON.stringify(fields.map(layoutOf));
}

function layoutOf({ type, extension, sqlType, dictionary, children }: ReceivedField): unknown[] {
  return [type, extension, sqlType, dictionary, children.map((child) => [child.name, layoutOf(child)])];
}
