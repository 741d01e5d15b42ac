import {
  ArrowStream,
  isTextField,
  type ReceivedField,
  readAt,
  sliceColumn,
  sliceEnds,
  toDataType,
} from '@framehold/arrow-ipc';
import { type DataType, parseSqlType, sqlName, sqlTypeName } from '@framehold/columns';
import { type Connection, TableAppender, vectorRows } from '@framehold/duckdb';
import { checkColumns } from './check-columns.ts';

export interface ArrowTable extends AsyncDisposable {
  /** The table's quoted name. Its columns are c0, c1 … */
  readonly table: string;
  /** The relation with the types that the sender means. */
  readonly sql: string;
  /** The columns' names as the schema spells them: they may repeat or be empty. */
  readonly names: readonly string[];
  /** Which columns hold nothing but nulls, by their type. */
  readonly areNull: readonly boolean[];
  /** The types that the text in a column, or in its lists, stands for; kind `null` if its use decides. */
  readonly meant: readonly (DataType | undefined)[];
}

let tables = 0;

/** Reads an Arrow IPC stream into a temporary table. Rejects as `loadArrow` does. */
export async function loadArrowStream(
  connection: Connection,
  input: AsyncIterable<Uint8Array>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ArrowTable> {
  await using stream = await ArrowStream.open(input);
  return await loadArrow(connection, stream, options);
}

/**
 * Reads rows into a temporary table, a message at a time. All bytes are checked before native code sees them. Rejects with an
 * AppError about the stream, a DuckDbError, or the error of the input or the signal.
 */
export async function loadArrow(
  connection: Connection,
  stream: ArrowStream,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ArrowTable> {
  const { fields } = stream;
  const name = `arrow_${++tables}`;
  checkColumns(fields);
  const types = fields.map((field) => toDataType(field));
  const columns = types.map((type, index) => `c${index} ${sqlTypeName(type)}`);
  await connection.run(`CREATE TEMP TABLE ${sqlName(name)} (${columns.join(', ')})`);
  const drop = (): Promise<void> => connection.tidy(`DROP TABLE IF EXISTS temp.main.${sqlName(name)}`);
  try {
    await appendRows(new TableAppender(connection.handle, name, types), stream, options.signal);
  } catch (error) {
    await drop().catch(() => {});
    throw error;
  }
  return {
    table: sqlName(name),
    sql: typedRelation(sqlName(name), fields),
    names: fields.map((field) => field.name),
    areNull: fields.map((field) => field.type.kind === 'null'),
    meant: fields.map(meantAs),
    [Symbol.asyncDispose]: drop,
  };
}

function meantAs(field: ReceivedField): DataType | undefined {
  if (!isTextField(field)) return undefined;
  // Text without a named type; lists and extensions keep theirs.
  if (field.sqlType === undefined) {
    return field.type.kind === 'list' || field.extension !== undefined ? undefined : { kind: 'null' };
  }
  return field.sqlType === sqlTypeName({ kind: 'null' }) ? { kind: 'null' } : parseSqlType(field.sqlType);
}

/** UUIDs are sent as text, which every client understands, and become UUIDs again here. */
function typedRelation(table: string, fields: readonly ReceivedField[]): string {
  const isUuid = ({ type, sqlType }: ReceivedField): boolean =>
    sqlType === 'UUID' && (type.kind === 'bytes' || type.kind === 'view') && type.text;
  if (!fields.some(isUuid)) return table;
  const items = fields.map((field, index) => (isUuid(field) ? `CAST(c${index} AS UUID)` : `c${index}`));
  return `(SELECT ${items.join(', ')} FROM ${table})`;
}

async function appendRows(table: TableAppender, stream: ArrowStream, signal: AbortSignal | undefined): Promise<void> {
  await using appender = table;
  for await (const { message, rows, columns } of stream.rows()) {
    let from = 0;
    for (const to of readAt(message, () => sliceEnds(columns, rows, vectorRows))) {
      signal?.throwIfAborted();
      const slice = columns.map((column) => sliceColumn(column, from, to));
      readAt(message, () => appender.fill(slice, to - from));
      await appender.append();
      from = to;
    }
    await appender.settle();
  }
  await appender.close();
}
