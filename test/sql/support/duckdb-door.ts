import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, DuckDbError, type PreparedStatement, Session } from '@framehold/duckdb';
import { Refused, type SqlDoor } from './sql-door.ts';

/** DuckDB itself, with an empty database, in this process. */
export async function duckDbDoor(): Promise<SqlDoor & Disposable> {
  const tempDirectory = join(tmpdir(), 'framehold-sql-tests');
  const session = new Session({ threads: 1, memoryBytes: 1e9, tempDirectory, maxTempBytes: 1e9 });
  const connection = session.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    engine: 'duckdb',
    takesParameters: true,
    run: async (sql, parameters) => {
      await textsOf(connection, sql, parameters);
    },
    // DuckDB writes the values itself. The rows keep their order: it keeps that of a subquery.
    query: async (sql, parameters) => {
      const asTexts = `SELECT COLUMNS(*)::VARCHAR FROM (\n${sql.replace(/;\s*$/, '')}\n)`;
      const asJson = `SELECT to_json([*COLUMNS(*)])::VARCHAR FROM (${asTexts})`;
      const rows = await textsOf(connection, asJson, parameters);
      return rows.map((row) => (JSON.parse(row) as (string | null)[]).map((cell) => cell ?? 'NULL'));
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

/** Of the first column, where it is text. */
async function textsOf(connection: Connection, sql: string, parameters: readonly unknown[]): Promise<string[]> {
  const texts: string[] = [];
  try {
    if (parameters.length > 0) await connection.run(`PREPARE with_parameters AS ${sql}`);
    const executed = parameters.length > 0 ? `EXECUTE with_parameters(${parameters.map(literal).join()})` : sql;
    using statement = await prepare(connection, executed);
    await using result = await statement.execute();
    for await (const { rows, vectors } of result.batches()) {
      const [cells] = vectors;
      if (cells?.data == null || cells.offsets === null) continue;
      const bytes = Buffer.from(cells.data.buffer, cells.data.byteOffset, cells.data.byteLength);
      for (let row = 0; row < rows; row++)
        texts.push(bytes.toString('utf8', cells.offsets[row], cells.offsets[row + 1]));
    }
    return texts;
  } catch (error) {
    if (error instanceof DuckDbError) throw new Refused(error.message, { cause: error });
    throw error;
  }
}

/** A PIVOT that finds its columns itself is several statements. */
async function prepare(connection: Connection, sql: string): Promise<PreparedStatement> {
  return /\bPIVOT\b/i.test(sql) ? connection.preparePivot(sql) : connection.prepare(sql);
}

/** Of a parameter as `POST /sql` takes it. */
function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join()}]`;
  if (typeof value !== 'object') return `${value}`;
  const typed = value as { readonly type: string; readonly value: unknown };
  return `CAST(${literal(typed.value)} AS ${typed.type})`;
}
