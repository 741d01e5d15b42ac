import { DuckDbError } from '@framehold/duckdb';
import { beforeAll, describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../../test/support/duckdb-connection.ts';
import { columnCandidates } from './column-candidates.ts';
import { sqlError } from './sql-error.ts';

const connection = duckDbConnection();

beforeAll(async () => {
  await connection.run(`ATTACH ':memory:' AS framehold`);
  await connection.run('CREATE SCHEMA framehold.frames');
  await connection.run(`CREATE VIEW framehold.frames.trades AS SELECT 1 AS price, 'a' AS sym, now() AS ts, 2 AS qty`);
  await connection.run(`CREATE VIEW framehold.frames.quotes AS SELECT 1 AS price, 'a' AS sym`);
  await connection.run(`SET search_path = 'framehold.frames'`);
});

async function errorOf(sql: string): Promise<DuckDbError> {
  try {
    await connection.run(sql);
  } catch (error) {
    if (error instanceof DuckDbError) return error;
    throw error;
  }
  throw new Error(`no error: ${sql}`);
}

describe('errors of DuckDB in our words', () => {
  test.each<[string, string, string | undefined, number | undefined]>([
    ['SELECT prise FROM trades', 'column "prise" not found in trades; did you mean "price"?', undefined, 7],
    [
      'SELECT RowId FROM (VALUES (1)) t (a)',
      'rowid is the number of a row of a frame that a query reads',
      'neither RETURNING nor a table of tsdb has it',
      7,
    ],
    ["SELECT 'm''h'::ENUM ('sad', 'ok')", "'m'h' is no value of ENUM ('sad', 'ok')", undefined, 13],
    ["SELECT 'meh'::UTINYINT", "could not convert string 'meh' to UINT8", undefined, 12],
    ['SELECT zz FROM trades', 'column "zz" not found in trades', 'there is "price"', 7],
    [
      'SELECT prise FROM trades JOIN quotes USING (sym)',
      'column "prise" not found; did you mean "quotes.price"?',
      undefined,
      7,
    ],
    ['SELECT t.prise FROM trades t', 'column "prise" not found in t; did you mean "price"?', undefined, 7],
    ['SELECT trades.prise FROM trades', 'column "prise" not found in trades; did you mean "price"?', undefined, 7],
    ['SELECT T.prise FROM frames.Trades AS t', 'column "prise" not found in t; did you mean "price"?', undefined, 7],
    [
      'SELECT 1 FROM quotes q JOIN trades t ON q.sym = t.syn',
      'column "syn" not found in t; did you mean "sym"?',
      undefined,
      48,
    ],
    ['SELECT t.zz FROM trades t', 'column "zz" not found in t', 'there is "price", "sym", "ts", "qty"', 7],
    ['SELECT t.prise FROM (FROM trades) t', 'column "prise" not found in t', undefined, 7],
    ['WITH trades AS (SELECT 1) SELECT trades.prise FROM trades', 'column "prise" not found in trades', undefined, 33],
    ['SELECT trade.price FROM trades', 'table "trade" not found in FROM; did you mean "trades"?', undefined, 7],
    ['SELECT *\nFROM trade', 'table trade not found; did you mean "trades"?', 'SHOW TABLES lists the frames', 14],
    [
      'SELECT * FROM trades, trades',
      'table "trades" stands twice in FROM',
      'give each an alias: FROM trades AS a, trades AS b',
      undefined,
    ],
    ['FROM nothinglikethis', 'table nothinglikethis not found', 'SHOW TABLES lists the frames', 5],
    [
      "SELECT 'é',\n  'é', prise FROM trades",
      'column "prise" not found in trades; did you mean "price"?',
      undefined,
      19,
    ],
    [
      "SELECT '名前', '😀', prise FROM trades",
      'column "prise" not found in trades; did you mean "price"?',
      undefined,
      19,
    ],
    ['SELECT\r\n  prise FROM trades', 'column "prise" not found in trades; did you mean "price"?', undefined, 10],
    ["SELECT 'x'::INT", "could not convert string 'x' to INT32", undefined, 10],
    ["SELECT '/home/me/x.csv'::INT", "could not convert string '/home/me/x.csv' to INT32", undefined, 23],
    [
      'SELECT sym::INT FROM trades',
      "could not convert string 'a' to INT32 when casting from source column sym",
      undefined,
      10,
    ],
    ["SELECT CAST('2020-13-01' AS DATE)", 'date field value out of range: "2020-13-01"', undefined, 7],
    [
      'SELECT price + sym FROM trades',
      'no function takes +(INTEGER, VARCHAR)',
      'cast the arguments: CAST(… AS type)',
      13,
    ],
    [
      'SELECT abs(sym, 2) FROM trades',
      'no function takes abs(VARCHAR, INTEGER)',
      'cast the arguments: CAST(… AS type)',
      7,
    ],
    ["SELECT abs('a')", 'no function takes abs(VARCHAR)', 'cast the arguments: CAST(… AS type)', 7],
    [
      'SELECT price FROM trades, quotes',
      'ambiguous reference to column name "price" (use: "trades.price" or "quotes.price")',
      undefined,
      7,
    ],
    [
      'SELECT price, count(*) FROM trades',
      'column "price" must appear in the GROUP BY clause or must be part of an aggregate function',
      undefined,
      7,
    ],
    ['SELECT 1 FROM trades WHERE sum(price) > 1', 'WHERE clause cannot contain aggregates', undefined, 27],
    ['SELECT 9223372036854775807 + 1', 'overflow in addition of INT64 (9223372036854775807 + 1)', undefined, undefined],
    ["SELECT error('my error')", 'my error', undefined, undefined],
    ['SELECT row_number() FROM trades', 'function row_number needs a window', 'write row_number(…) OVER (…)', 7],
    [
      "SELECT COLUMNS('zz') FROM trades",
      'no matching columns found that match regex "zz"',
      'did you mean "price", "qty", "sym", "ts"?',
      7,
    ],
    ["SELECT {'a': 1}.b", 'could not find key "b" in struct', 'did you mean "a"?', undefined],
    [
      'SELECT (SELECT 1 UNION SELECT 2)',
      'a subquery used as a value gives more than one row',
      'add LIMIT 1, or use IN or ANY',
      undefined,
    ],
    ["SELECT 'a' COLLATE zzz", 'collation zzz does not exist', 'there is "az"', undefined],
    ["SELECT '{'::JSON", 'malformed JSON at byte 1 of input: unexpected end of data.  Input: "{"', undefined, 10],
  ])('%s', async (sql, message, hint, position) => {
    const thrown = await errorOf(sql);
    const error = sqlError(thrown, sql, undefined, await columnCandidates(connection, thrown, sql));
    expect(error.code).toBe('sql_error');
    expect({ message: error.message, hint: error.hint, position: error.position }).toEqual({ message, hint, position });
  });
});

describe('the position', () => {
  const long = `SELECT ${'price + '.repeat(40)}prise, ${'qty + '.repeat(40)}1 FROM trades`;

  test('is found in a line that DuckDB shows in part', async () => {
    expect(sqlError(await errorOf(long), long).position).toBe(long.indexOf('prise'));
  });

  test('is found when only the end of the line is shown', async () => {
    const sql = `SELECT ${'price + '.repeat(40)}prise FROM trades`;
    expect(sqlError(await errorOf(sql), sql).position).toBe(sql.indexOf('prise'));
  });

  test('is found when only the beginning of the line is shown', async () => {
    const sql = `SELECT prise, ${'qty + '.repeat(40)}1 FROM trades`;
    expect(sqlError(await errorOf(sql), sql).position).toBe(7);
  });

  test('is left out where the line repeats itself', async () => {
    const sql = `SELECT ${'price + '.repeat(60)}sum(${'price + '.repeat(60)} 1) FROM trades`;
    const { position } = sqlError(await errorOf(sql), sql);
    if (position !== undefined) expect(sql.slice(position)).toMatch(/^price/);
  });

  test('is that in the caller’s text', async () => {
    const sql = 'SELECT prise FROM trades';
    const wrapped = `SELECT * FROM (${sql}) LIMIT 10`;
    expect(sqlError(await errorOf(sql), sql, (at) => at + 100).position).toBe(107);
    expect(sqlError(await errorOf(wrapped), wrapped, (at) => at - 'SELECT * FROM ('.length).position).toBe(7);
  });
});

describe('errors that are not about the statement', () => {
  test.each([
    ['Out of Memory Error: failed to allocate data of size 1.0 GiB (1.0 GiB/1.0 GiB used)', 'sql_out_of_memory'],
    ['IO Error: Cannot open file "/data/store/x.parquet": No such file or directory', 'internal'],
    ['INTERNAL Error: Attempted to dereference unique_ptr that is NULL!', 'engine_crashed'],
    ['FATAL Error: database has been invalidated', 'engine_crashed'],
    ['IO Error: Could not write file "/data/x": No space left on device', 'storage_full'],
  ])('%s', (message, code) => {
    const error = sqlError(new DuckDbError(message), 'SELECT 1');
    expect(error.code).toBe(code);
    expect(error.message + error.hint).not.toContain('/data');
    expect(error.cause).toBeInstanceOf(DuckDbError);
  });

  test.each([
    'No space left on device',
    'Read-only file system',
    'Permission denied',
    'std::bad_alloc',
    'max_temp_directory_size',
    'database has been invalidated',
    'Out of Memory Error: failed to allocate',
    'INTERNAL Error: x',
  ])('cannot be made up by a caller: %s', async (text) => {
    for (const sql of [`SELECT error('${text}')`, `SELECT CAST('${text}' AS INTEGER)`]) {
      const error = await errorOf(sql);
      expect(error.fatal).toBe(false);
      expect(sqlError(error, sql)).toMatchObject({ code: 'sql_error' });
    }
  });

  test('a value of any length is quoted in part, and its place is still known', async () => {
    const sql = `SELECT CAST(repeat('x', 1000000) AS INTEGER)`;
    const error = sqlError(await errorOf(sql), sql);
    expect(error.message.length).toBeLessThan(6000);
    expect((error.cause as Error).message.length).toBeLessThan(6000);
    expect(error.position).toBe(7);
  });

  test('an exception that comes as JSON is read', () => {
    const exception = (type: string, text: string): string =>
      JSON.stringify({ exception_type: type, exception_message: text });
    const told = (message: string): unknown => sqlError(DuckDbError.ofException(message), 'SELECT 1');
    expect(told(exception('Out of Memory', 'ArrowBuffer: failed to allocate 2097152 bytes'))).toMatchObject({
      code: 'sql_out_of_memory',
    });
    const tooLong = 'Arrow Appender: The maximum total string size for regular string buffers is 2147483647';
    expect(told(exception('Invalid Input', tooLong))).toMatchObject({
      code: 'sql_error',
      message: expect.stringContaining('more than 2 GiB'),
      hint: expect.stringContaining('substring'),
    });
    expect(told('{"exception_type":"Invalid')).toMatchObject({ code: 'sql_error' });
  });

  test('names of ours are left out', () => {
    const message = 'Binder Error: View "framehold.frames.trades" was altered: framehold.frames.x\n';
    expect(sqlError(new DuckDbError(message), 'SELECT 1').message).not.toContain('framehold.');
  });
});
