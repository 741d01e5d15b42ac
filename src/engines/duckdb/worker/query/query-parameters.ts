import { type Column, type DataType, sqlName, sqlString, sqlTypeName } from '@framehold/columns';
import { type Connection, DuckDbError, type PreparedStatement } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../../core/text/did-you-mean.ts';
import { type ArrowTable, loadArrowStream } from '../append/arrow-to-table.ts';
import { type ResultRows, withDeclared } from '../encode/encode-results.ts';
import { readableSql } from '../parquet/parquet-relation.ts';

export interface BoundQuery extends AsyncDisposable {
  /** The number of rows of parameters. */
  readonly count: number;
  /** The columns of the result for the first row of parameters. */
  columns(): Promise<readonly Column[]>;
  /** A result for each row of parameters, in order. Each must be disposed of before the next. */
  results(options: { readonly isKept: boolean }): AsyncGenerator<ResultRows, void, undefined>;
}

/** The rows of parameters, read into their table. */
export interface ParameterRows {
  readonly parameters: Connection;
  readonly input: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

const statementName = 'framehold_query';
/** Texts up to this length become literals where their type is unknown: their use may decide it. */
const longestLiteral = 1000;
/** DuckDB quotes the whole value. */
const longestReason = 300;

/**
 * A statement with the values of its parameters. They come as rows of a temporary table and pass through SQL variables,
 * so that every type that a table can hold can be a parameter.
 */
export async function bindParameters(
  { parameters: store, input, signal }: ParameterRows,
  connection: Connection,
  { sql, names }: { readonly sql: string; readonly names: readonly string[] },
): Promise<BoundQuery> {
  // Prepares the explained statement, and then its call.
  const [explain = ''] = /^explain\s+(?:\([^)]*\)\s*)?/i.exec(sql) ?? [];
  const bare = sql.slice(explain.length);
  const rows = await loadArrowStream(store, input, { signal });
  const close = async (): Promise<void> => {
    await connection.run(`DEALLOCATE ${statementName}`).catch(() => {});
    await rows[Symbol.asyncDispose]();
  };
  try {
    using statement = await connection.prepare(bare);
    const { parameterCount, parameterTypes } = statement;
    const parameters = columnsOf(rows, parameterCount, names).map((column, index) => ({
      name: names[index] ?? String(index + 1),
      column,
      type: parameterTypes[index],
    }));
    const [counted] = await store.rows<{ n: number }>(`SELECT count(*) AS n FROM ${rows.table}`);
    const count = counted?.n ?? 0;
    await connection.run(`PREPARE ${statementName} AS ${bare}`);
    const values = (row: number): Promise<string[]> =>
      store === connection ? setVariables(store, rows, row, parameters) : literals(store, rows, row, parameters);
    const bindRow = async (row: number): Promise<PreparedStatement> =>
      prepareCall(connection, await values(row), names, explain);
    return {
      count,
      async columns() {
        using first = await (count === 0
          ? prepareCall(connection, new Array<string>(parameterCount).fill('NULL'), names)
          : bindRow(0));
        return first.typedColumns;
      },
      async *results({ isKept }) {
        for (let row = 0; row < count; row++) {
          signal.throwIfAborted();
          using call = await bindRow(row);
          const result = await call.execute();
          yield isKept ? withDeclared(result, call.declaredTypes) : result;
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Which column of the rows each parameter has: by its name, where both sides have names. */
function columnsOf({ names: given }: ArrowTable, count: number, names: readonly string[]): number[] {
  const isByName = names.length > 0 && given.some((name) => !/^\d*$/.test(name));
  if (!isByName) {
    if (count === given.length) return given.map((_, index) => index);
    const message = `the statement has ${count} parameters, but ${given.length} values are bound`;
    throw new AppError('invalid_parameter', message);
  }
  const isAlike = (a: string) => (b: string) => asciiLower(a) === asciiLower(b);
  const strange = given.find((name) => !names.some(isAlike(name)));
  if (strange !== undefined) {
    const message = `the statement has no parameter $${strange}${didYouMean(strange, names)}`;
    throw new AppError('invalid_parameter', message, { hint: `it has $${names.join(', $')}` });
  }
  return names.map((name) => {
    const index = given.findIndex(isAlike(name));
    if (index < 0) throw new AppError('missing_parameter', `parameter $${name} has no value`);
    return index;
  });
}

/**
 * The columns that give the same rows as `VALUES (?, ?)` run for each row of parameters, or undefined for any other text. One
 * statement for a thousand rows takes as long as one for a single row.
 */
export function parametersAsRows(sql: string): number[] | undefined {
  const values = /^VALUES\s*\(([\s?$\d,]+)\)\s*;?$/i.exec(sql.trim())?.[1];
  if (values === undefined) return undefined;
  const items = values.split(',').map((item, index) => {
    const parameter = /^(?:\?|\$(\d+))$/.exec(item.trim());
    return parameter === null ? undefined : parameter[1] === undefined ? index : Number(parameter[1]) - 1;
  });
  return items.includes(undefined) ? undefined : (items as number[]);
}

/** A statement with NULL for all parameters: gives the columns where the parameters' types are unknown. */
export async function prepareUnbound(
  connection: Connection,
  { sql, count, names }: { readonly sql: string; readonly count: number; readonly names: readonly string[] },
): Promise<PreparedStatement> {
  await connection.run(`PREPARE ${statementName} AS ${sql}`);
  try {
    return await prepareCall(connection, new Array<string>(count).fill('NULL'), names);
  } finally {
    await connection.run(`DEALLOCATE ${statementName}`);
  }
}

interface Parameter {
  /** As in the statement; its number from 1 if it has no name. */
  readonly name: string;
  /** Which column of the rows has its values. */
  readonly column: number;
  /** The parameter's type, if the statement determines one. */
  readonly type: DataType | undefined;
}

async function setVariables(
  connection: Connection,
  rows: ArrowTable,
  row: number,
  parameters: readonly Parameter[],
): Promise<string[]> {
  const values: string[] = [];
  for (const [index, { name, column, type: taken }] of parameters.entries()) {
    // The statement decides the type of an untyped null; in a table it would be INTEGER.
    if (rows.areNull[column]) {
      values.push('NULL');
      continue;
    }
    const variable = `framehold_${index}`;
    const { value, type } = meantValue(rows, column, taken);
    const of = `FROM temp.main.${rows.table} WHERE rowid = ${row}`;
    if (type === undefined && rows.meant[column]?.kind === 'null') {
      const isShort = `length(${value}) <= ${longestLiteral}`;
      const [found] = await connection.rows<{ text: string }>(`SELECT ${value} AS text ${of} AND ${isShort}`);
      // DuckDB's parser takes a C string, and long ones are rarely dates or numbers.
      if (found !== undefined && !found.text.includes('\0')) {
        values.push(sqlString(found.text));
        continue;
      }
    }
    try {
      await connection.run(`SET VARIABLE ${variable} = (SELECT ${value} ${of})`);
    } catch (error) {
      throw error instanceof DuckDbError && error.isCallers ? unreadable(name, type, error) : error;
    }
    values.push(`getvariable('${variable}')`);
  }
  return values;
}

/** The values as SQL, for a statement that runs in another instance than the one with the rows. */
async function literals(
  store: Connection,
  rows: ArrowTable,
  row: number,
  parameters: readonly Parameter[],
): Promise<string[]> {
  const values: string[] = [];
  for (const { name, column, type: taken } of parameters) {
    const { value, type } = meantValue(rows, column, taken);
    const sql = `SELECT typeof(${value}) AS type, CAST(${value} AS VARCHAR) AS text FROM temp.main.${rows.table} WHERE rowid = ${row}`;
    try {
      const [found] = rows.areNull[column] ? [] : await store.rows<{ type: string; text: string | null }>(sql);
      const text = found?.text ?? undefined;
      if (text?.includes('\0')) throw new AppError('invalid_parameter', `parameter $${name} holds a NUL`);
      const isText = type === undefined && found?.type === 'VARCHAR';
      values.push(
        text === undefined ? 'NULL' : isText ? sqlString(text) : `CAST(${sqlString(text)} AS ${found?.type})`,
      );
    } catch (error) {
      throw error instanceof DuckDbError && error.isCallers ? unreadable(name, type, error) : error;
    }
  }
  return values;
}

/** A column's value as its meant type. Text of no type yet becomes the statement's type, as a literal would. */
export function meantValue(
  { meant }: ArrowTable,
  column: number,
  taken?: DataType,
): { readonly value: string; readonly type: DataType | undefined } {
  const name = `c${column}`;
  const type = meant[column]?.kind === 'null' ? taken : meant[column];
  if (type === undefined || type.kind === 'null' || type.kind === 'utf8') return { value: name, type: undefined };
  const isBase64 = type.kind === 'binary' && meant[column]?.kind === 'binary';
  return { value: isBase64 ? `from_base64(${name})` : `CAST(${name} AS ${sqlTypeName(type)})`, type };
}

function unreadable(name: string, type: DataType | undefined, error: DuckDbError): AppError {
  const line = error.message.split('\n', 1)[0] ?? '';
  const whole = line.replace(/^[A-Z][A-Za-z ]* Error: /, '').replace(/ when casting from source column c\d+/, '');
  const why = whole.length > longestReason ? `${whole.slice(0, longestReason)}…` : whole;
  const what = type === undefined ? 'cannot be taken' : `is not of type ${sqlTypeName(type)}`;
  return new AppError('invalid_parameter', `parameter $${name} ${what}: ${why}`, { cause: error });
}

async function prepareCall(
  connection: Connection,
  values: readonly string[],
  names: readonly string[],
  explain = '',
): Promise<PreparedStatement> {
  const list = values.map((value, index) => {
    const name = names[index];
    return name === undefined ? value : `${sqlName(name)} := ${value}`;
  });
  const statement = await connection.prepare(`${explain}EXECUTE ${statementName}(${list.join(', ')})`);
  if (readableSql(statement.columns, '') === undefined) return statement;
  statement[Symbol.dispose]();
  throw new AppError('sql_error', 'a column of the result has a type that a statement with parameters cannot give', {
    hint: 'cast it to VARCHAR',
  });
}
