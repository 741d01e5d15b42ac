import { AppError } from '../../../core/app-error.ts';
import type { Column } from '../../../core/data-type.ts';
import { type ArrowTable, loadArrowStream } from './arrow-load.ts';
import { readableSql } from './parquet-relation.ts';
import type { Connection, PreparedStatement, QueryResult } from './session.ts';

export interface BoundQuery extends AsyncDisposable {
  /** What the first row of parameters gives. */
  columns(): Promise<readonly Column[]>;
  /** A result for each row of parameters, in order. Each must be disposed of before the next. */
  results(): AsyncGenerator<QueryResult, void, undefined>;
}

const statementName = 'framehold_query';

/**
 * A statement with the values of its parameters. They come as rows of a temporary table and pass through SQL variables,
 * so that every type that a table can hold can be a parameter.
 */
export async function bindParameters(
  connection: Connection,
  sql: string,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<BoundQuery> {
  const rows = await loadArrowStream(connection, input, { signal });
  const close = async (): Promise<void> => {
    await connection.run(`DEALLOCATE ${statementName}`).catch(() => {});
    await rows[Symbol.asyncDispose]();
  };
  try {
    using statement = await connection.prepare(sql);
    const { parameterCount } = statement;
    if (parameterCount !== rows.names.length) {
      throw new AppError(
        'invalid_parameter',
        `the statement has ${parameterCount} parameters, but ${rows.names.length} values are bound`,
      );
    }
    const [counted] = await connection.rows<{ n: number }>(`SELECT count(*) AS n FROM ${rows.table}`);
    const count = counted?.n ?? 0;
    await connection.run(`PREPARE ${statementName} AS ${sql}`);
    const bindRow = async (row: number): Promise<PreparedStatement> =>
      prepareCall(connection, await setVariables(connection, rows, row));
    return {
      async columns() {
        using first = await (count === 0
          ? prepareCall(connection, new Array<string>(parameterCount).fill('NULL'))
          : bindRow(0));
        return first.typedColumns;
      },
      async *results() {
        for (let row = 0; row < count; row++) {
          signal.throwIfAborted();
          using call = await bindRow(row);
          yield await call.execute();
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The select list that gives the same rows as `VALUES (?, ?)` run for each row of parameters, or undefined when the text
 * is anything else. One statement for a thousand rows takes as long as one for a single row.
 */
export function parametersAsRows(sql: string): string | undefined {
  const values = /^\s*VALUES\s*\(([\s?$\d,]+)\)\s*;?\s*$/i.exec(sql)?.[1];
  if (values === undefined) return undefined;
  const items = values.split(',').map((item, index) => {
    const parameter = /^(?:\?|\$(\d+))$/.exec(item.trim());
    return parameter === null ? undefined : `c${parameter[1] === undefined ? index : Number(parameter[1]) - 1}`;
  });
  return items.includes(undefined) ? undefined : items.join(', ');
}

/** A statement whose parameters are all NULL: its columns can be told where nothing tells the parameters' types. */
export async function prepareUnbound(connection: Connection, sql: string, count: number): Promise<PreparedStatement> {
  await connection.run(`PREPARE ${statementName} AS ${sql}`);
  try {
    return await prepareCall(connection, new Array<string>(count).fill('NULL'));
  } finally {
    await connection.run(`DEALLOCATE ${statementName}`);
  }
}

async function setVariables(connection: Connection, rows: ArrowTable, row: number): Promise<string[]> {
  const { table, areNull } = rows;
  const values: string[] = [];
  for (const [index, isNull] of areNull.entries()) {
    // Of a null without a type the statement decides the type; one of a table has INTEGER.
    if (isNull) {
      values.push('NULL');
      continue;
    }
    const name = `framehold_${index}`;
    await connection.run(`SET VARIABLE ${name} = (SELECT c${index} FROM temp.main.${table} WHERE rowid = ${row})`);
    values.push(`getvariable('${name}')`);
  }
  return values;
}

async function prepareCall(connection: Connection, values: readonly string[]): Promise<PreparedStatement> {
  const statement = await connection.prepare(`EXECUTE ${statementName}(${values.join(', ')})`);
  if (readableSql(statement.columns, '') === undefined) return statement;
  statement[Symbol.dispose]();
  throw new AppError('sql_error', 'a column of the result has a type that a statement with parameters cannot give', {
    hint: 'cast it to VARCHAR',
  });
}
