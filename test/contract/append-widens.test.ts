import {
  type DataType,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  Table,
  tableToIPC,
  Uint8,
  Uint32,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { postSql, rowsOf } from '../support/live-questdb.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const sql = async (text: string, more: object = {}): Promise<void> => {
  const answer = await postSql(server.url, text, more);
  expect(answer.status, answer.text).toBe(200);
};

function append(handle: string, body: Uint8Array, type = 'application/vnd.apache.arrow.stream'): Promise<Answer> {
  const headers = { 'content-type': type };
  return ask(`${server.url}/imp?name=${handle}&append=true&fmt=json`, {
    method: 'POST',
    headers,
    body: Buffer.from(body),
  });
}

/** Small ones go to the log of the frame, and large ones become a part at once. */
const sizes = { small: 3, large: 100_000 };

function arrow(values: readonly unknown[], type: DataType, rows = values.length): Uint8Array {
  const all = Array.from({ length: rows }, (_, row) => values[row % values.length]);
  return tableToIPC(new Table({ n: vectorFromArray(all as never[], type) }), 'stream');
}

describe.each(Object.entries(sizes))('a %s append', (size, rows) => {
  test.each([
    ['BIGINT', new Int32(), [2147483647, null, -2147483648], ['2147483647', null, '-2147483648']],
    ['BIGINT', new Uint32(), [4294967295, 0, null], ['4294967295', '0', null]],
    ['INTEGER', new Int8(), [-128, 127, null], ['-128', '127', null]],
    ['UBIGINT', new Uint8(), [255, null, 0], ['255', null, '0']],
    ['DOUBLE', new Float32(), [0.10000000149011612, -0, null], ['0.10000000149011612', '-0.0', null]],
    ['DOUBLE', new Int32(), [-2147483648, null, 1], ['-2147483648.0', null, '1.0']],
    ['FLOAT', new Int16(), [-32768, 32767, null], ['-32768.0', '32767.0', null]],
  ])('to a column of %s takes %s, whose values it holds exactly', async (held, type, values, shown) => {
    const handle = `w_${size}_${held}_${type}`;
    await sql(`CREATE TABLE ${handle} (n ${held})`);
    const answer = await append(handle, arrow(values, type, rows));
    expect(answer.status, answer.text).toBe(200);
    const found = await rowsOf(server.url, `SELECT n::VARCHAR FROM ${handle} ORDER BY rowid LIMIT 3`);
    expect(found).toEqual(shown.map((value) => [value]));
    expect(await rowsOf(server.url, `SELECT count(*), min(typeof(n)) FROM ${handle}`)).toEqual([[rows, held]]);
  });

  test.each([
    ['INTEGER', new Int64(), [1n], 'int64'],
    ['DOUBLE', new Int64(), [1n], 'int64'],
    ['FLOAT', new Int32(), [1], 'int32'],
    ['FLOAT', new Float64(), [1], 'float64'],
    ['UBIGINT', new Int8(), [1], 'int8'],
    ['INTEGER', new Uint32(), [1], 'uint32'],
    ['VARCHAR', new Int32(), [1], 'int32'],
  ])('to a column of %s refuses %s, whose values it may not hold', async (held, type, values, shown) => {
    const handle = `r_${size}_${held}_${type}`;
    await sql(`CREATE TABLE ${handle} (n ${held})`);
    const answer = await append(handle, arrow(values, type, rows));
    expect([answer.status, answer.json().code]).toEqual([409, 'schema_mismatch']);
    expect(answer.json().error).toContain(shown);
  });
});

test('a file of Parquet, and the rows of a statement, are widened as well, beside columns that stay', async () => {
  await sql(`CREATE TABLE mixed AS SELECT 1::BIGINT AS n, 'a' AS t, [1] AS l, '{"k": 1}'::JSON AS j`);
  const narrow = (n: number) => `SELECT ${n}::INTEGER AS n, 'b' AS t, [2] AS l, '{"k": 2}'::JSON AS j`;
  const exported = new URLSearchParams({ query: narrow(2), engine: 'local', fmt: 'parquet' });
  const { body } = await ask(`${server.url}/exp?${exported}`);
  const answer = await append('mixed', body, 'application/vnd.apache.parquet');
  expect(answer.status, answer.text).toBe(200);
  await sql(narrow(3), { keep: { handle: 'mixed', mode: 'append' } });
  expect(await rowsOf(server.url, 'SELECT n, typeof(n), t, l::VARCHAR, j::VARCHAR FROM mixed ORDER BY n')).toEqual([
    [1, 'BIGINT', 'a', '[1]', '{"k": 1}'],
    [2, 'BIGINT', 'b', '[2]', '{"k": 2}'],
    [3, 'BIGINT', 'b', '[2]', '{"k": 2}'],
  ]);
});

test('a NULL in a column that takes none is refused also where the type is wider', async () => {
  await sql('CREATE TABLE filled (n BIGINT NOT NULL)');
  for (const rows of Object.values(sizes)) {
    expect((await append('filled', arrow([1, null], new Int32(), rows))).json().code).toBe('schema_mismatch');
    expect((await append('filled', arrow([1], new Int32(), rows))).status).toBe(200);
  }
});
