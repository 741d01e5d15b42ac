import type { DataType } from '../../../../core/data-type.ts';
import { ArrowStream } from '../../../../encoding/arrow/read/columns/stream.ts';
import { readAt } from '../../../../encoding/arrow/read/format/messages.ts';
import { isTextField, type ReceivedField } from '../../../../encoding/arrow/read/format/schema.ts';
import { sliceColumn, sliceEnds } from '../../../../encoding/arrow/read/vectors/column-slices.ts';
import { toDataType } from '../../../../encoding/arrow/read/vectors/to-data-type.ts';
import { parseSqlType } from '../../../../encoding/sql-types/parse-sql-type.ts';
import { sqlTypeName } from '../../../../encoding/sql-types/sql-type-name.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { vectorRows } from '../native/c-api.ts';
import type { Connection } from '../native/session.ts';
import { checkColumns } from './check-columns.ts';
import { TableAppender } from './table-appender.ts';

export interface ArrowTable extends AsyncDisposable {
  /** The table's quoted name. Its columns are c0, c1 … */
  readonly table: string;
  /** The relation with the types that the sender means. */
  readonly sql: string;
  /** The columns' names as the schema spells them: they may repeat or be empty. */
  readonly names: readonly string[];
  /** Which columns hold nothing but nulls, by their type. */
  readonly areNull: readonly boolean[];
  /** What the text in a column, or in its lists, is meant as; of kind `null` where its use shall decide. */
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
 * Reads rows into a temporary table, a message at a time. Everything is checked before native code sees it. Rejects with
 * an AppError about the stream, a DuckDbError, or what the input or the signal throws.
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
  // Text of no named type; lists and extensions are what they are.
  if (field.sqlType === undefined) {
    return field.type.kind === 'list' || field.extension !== undefined ? undefined : { kind: 'null' };
  }
  return field.sqlType === sqlTypeName({ kind: 'null' }) ? { kind: 'null' } : parseSqlType(field.sqlType);
}

/** UUIDs leave us as text, which every client understands, and come back as what they were. */
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
