import type { Column, EncodedRows } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import {
  type ChangesTable,
  type InsertedTable,
  mergeActionColumn,
  type Query,
  type SqlJob,
  type SqlRun,
  type TableName,
  targetSchema,
} from '../../core/sql/sql.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { ReturnedResult, UpdateRequest } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { tableOf } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';

/** The rows of RETURNING are held in memory until they are fetched. */
const longestReturned = 64 * 2 ** 20;

/** A statement with the list of its RETURNING. */
interface ReturningStatement extends Pick<SqlJob, 'settings'> {
  readonly table: TableName;
  readonly returning?: Query | undefined;
}

/** A file with the rows that a statement changes or adds. */
interface ChangedRows {
  readonly path: string;
  /** Columns of the file that are not the frame's. */
  readonly hidden: readonly string[];
  /** The frame. */
  readonly like: Pick<FrameReader, 'columns' | 'readAs'>;
}

export interface StagedRows extends AsyncDisposable {
  readonly rows: number;
  readonly path: string;
}

/** The columns of RETURNING; none without it. */
export async function returnedColumns(
  call: StatementRun,
  { table, returning }: ReturningStatement,
  { reader, hasAction = false }: { readonly reader: FrameReader; readonly hasAction?: boolean },
): Promise<readonly Column[]> {
  if (returning === undefined) return [];
  const frame = await tableOf(reader, call.principal.tenant, { name: table.name, schema: targetSchema });
  // Any column will do: the query makes a text of it.
  const rows = hasAction ? { ...frame, rowNumbers: mergeActionColumn } : frame;
  return (await call.engine.describe({ query: returning, tables: [rows] }, call.job)).columns;
}

/** The rows of a query, in a file that the caller's statements can read. */
export async function stageRows(call: StatementRun, run: SqlRun): Promise<StagedRows> {
  const { engine, frames, principal, options } = call;
  await using result = await engine.run(run, call.job);
  const source = { kind: 'arrow', stream: result.arrowStream() } as const;
  const file = await frames.writeParquet(principal, { source, isForStatements: true }, options);
  return { ...file, rows: result.totalRows };
}

/** The rows that an INSERT adds, in such a file. */
export async function stageInserted(
  call: StatementRun,
  { query, settings, parameters, into }: Pick<SqlRun, 'query' | 'settings' | 'parameters'> & { into: InsertedTable },
): Promise<StagedRows> {
  await using opened = await openTables(call, query);
  const tables = await opened.withRows({ query, into, settings });
  return await stageRows(call, { query, into, settings, tables, parameters, form: 'arrow', isKept: true });
}

/** The rows of RETURNING, over the rows of a file; undefined without it. */
export async function returnedRows(
  call: StatementRun,
  { returning: query, table, settings }: ReturningStatement,
  { path, hidden, like: { columns, readAs } }: ChangedRows,
  { parameters, returned = { form: 'arrow' } }: Pick<UpdateRequest, 'parameters' | 'returned'>,
): Promise<ReturnedResult | undefined> {
  if (query === undefined) return undefined;
  const like = { columns, readAs };
  const rowsTable: ChangesTable = { kind: 'changes', name: table.name, schema: targetSchema, path, hidden, like };
  const run = {
    ...returned,
    query,
    settings,
    tables: [rowsTable],
    parameters: query.parameterCount === 0 ? undefined : parameters,
  };
  await using result = await call.engine.run(run, call.job);
  const rows: EncodedRows[] = [];
  let bytes = 0;
  for await (const piece of result.rows()) {
    bytes += piece.bytes.length + piece.rowEnds.byteLength;
    if (bytes > longestReturned) throw tooMuchReturned();
    await call.options.holdReturned?.(bytes);
    // A piece is valid only until the next one is read.
    rows.push({ rows: piece.rows, bytes: piece.bytes.slice(), rowEnds: piece.rowEnds.slice() });
  }
  return resultOf(result.columns, rows, result.totalRows);
}

function resultOf(columns: readonly Column[], whole: readonly EncodedRows[], totalRows: number): ReturnedResult {
  async function* rows(): AsyncGenerator<EncodedRows, void, undefined> {
    yield* whole;
  }
  return {
    columns,
    whole,
    rows,
    totalRows,
    [Symbol.asyncDispose]: async () => {},
  };
}

function tooMuchReturned(): AppError {
  return new AppError('too_large', `RETURNING gives more than ${longestReturned} bytes; nothing was changed`, {
    hint: 'return fewer columns, or change fewer rows at once',
  });
}
