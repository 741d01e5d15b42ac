import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import type { EncodedRows } from '../../core/frame-engine.ts';
import type { Principal } from '../../core/principal.ts';
import {
  type ChangesTable,
  mergeActionColumn,
  type Query,
  type SqlJob,
  type SqlRun,
  type TableName,
  targetSchema,
} from '../../core/sql.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { CallOptions, ReturnedResult, UpdateRequest } from '../frame-sql.ts';
import { tableOf } from '../tables/frame-tables.ts';
import type { TableSources } from '../tables/table-opener.ts';

/** What RETURNING gives is held in memory until it is fetched. */
const longestReturned = 64 * 2 ** 20;

interface Returning extends Pick<SqlJob, 'settings'>, Pick<UpdateRequest, 'parameters' | 'returned'> {
  readonly returning: Query;
  readonly table: TableName;
  /** Of a file with the rows. */
  readonly path: string;
  /** Columns of the file that are not the frame's. */
  readonly hidden: readonly string[];
  /** The frame. */
  readonly reader: Pick<FrameReader, 'columns' | 'readAs'>;
}

export interface StagedRows extends AsyncDisposable {
  readonly rows: number;
  readonly path: string;
}

/** The columns of what RETURNING gives. */
export async function returnedColumns(
  { engine }: Pick<TableSources, 'engine'>,
  { tenant }: Principal,
  { returning, table, action }: { readonly returning: Query; readonly table: TableName; readonly action?: string },
  reader: FrameReader,
  options: CallOptions,
): Promise<readonly Column[]> {
  const frame = await tableOf(reader, tenant, { name: table.name, schema: targetSchema });
  // Any column will do: the query makes a text of it.
  const rows = action === mergeActionColumn ? { ...frame, rowNumbers: action } : frame;
  return (await engine.describe({ query: returning, tables: [rows] }, { ...options, tenant })).columns;
}

/** The rows of a query, in a file that the caller's statements can read. */
export async function stageRows(
  { engine, frames }: TableSources,
  principal: Principal,
  run: SqlRun,
  options: CallOptions,
): Promise<StagedRows> {
  await using result = await engine.run(run, { ...options, tenant: principal.tenant });
  const source = { kind: 'arrow', stream: result.arrowStream() } as const;
  const file = await frames.writeParquet(principal, { source, isForStatements: true }, options);
  return { ...file, rows: result.totalRows };
}

/** The rows of RETURNING, over the rows of a file. */
export async function returnedRows(
  { engine }: Pick<TableSources, 'engine'>,
  principal: Principal,
  { returning: query, table, path, hidden, reader, settings, parameters, returned = { form: 'arrow' } }: Returning,
  options: CallOptions,
): Promise<ReturnedResult> {
  const { columns, readAs } = reader;
  const like = { columns, readAs };
  const rowsTable: ChangesTable = { kind: 'changes', name: table.name, schema: targetSchema, path, hidden, like };
  const run = {
    ...returned,
    query,
    settings,
    tables: [rowsTable],
    parameters: query.parameterCount === 0 ? undefined : parameters,
  };
  await using result = await engine.run(run, { ...options, tenant: principal.tenant });
  const rows: EncodedRows[] = [];
  let bytes = 0;
  for await (const piece of result.rows()) {
    bytes += piece.bytes.length;
    if (bytes > longestReturned) throw tooMuchReturned();
    // A piece need not hold for longer than until the next one is asked for.
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
