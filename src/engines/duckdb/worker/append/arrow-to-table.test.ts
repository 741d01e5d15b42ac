import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@framehold/columns';
import { Session } from '@framehold/duckdb';
import * as arrow from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type ColumnCase,
  dictionaryCases,
  nestedCases,
  scalarCases,
} from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  i8,
  i32,
  type RawField,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import { tradesStream } from '../../../../../test/support/arrow-trades.ts';
import { loadArrowStream } from './arrow-to-table.ts';

const session = new Session({
  threads: 1,
  memoryBytes: 1e9,
  tempDirectory: join(tmpdir(), 'framehold-arrow-load'),
  maxTempBytes: 1e9,
});
const connection = session.connect();
afterAll(() => connection[Symbol.dispose]());

async function* pieces(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function streamOf({ field, batch, dictionaries = [] }: Pick<ColumnCase, 'field' | 'batch' | 'dictionaries'>): Buffer {
  return Buffer.concat([
    schemaMessage([field]),
    ...dictionaries.map((dictionary) => dictionaryMessage(dictionary.id, dictionary.batch, dictionary.isDelta)),
    batchMessage(batch),
    batchMessage(batch),
    endOfStream,
  ]);
}

async function loadTexts(
  bytes: Uint8Array,
): Promise<{ type: string; values: (string | null)[]; names: readonly string[] }> {
  await using table = await loadArrowStream(connection, pieces(bytes));
  const rows = await connection.rows<{ v: string | null }>(`SELECT c0::VARCHAR AS v FROM ${table.sql}`);
  const [column] = await connection.rows<{ t: string }>(
    `SELECT data_type AS t FROM duckdb_columns() WHERE table_name = ${table.sql.replaceAll('"', "'")}`,
  );
  return { type: column?.t ?? '', values: rows.map((row) => row.v), names: table.names };
}

async function failure(bytes: Uint8Array): Promise<CodedError> {
  const error = await loadArrowStream(connection, pieces(bytes)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CodedError)) throw new Error(`not refused with an CodedError: ${error}`);
  return error;
}

describe.each([
  ['a scalar', scalarCases],
  ['a nested', nestedCases],
  ['a dictionary-encoded', dictionaryCases],
])('%s column keeps its values and its nulls', (_, cases) => {
  test.each(cases.map((one) => [one.what, one] as const))('%s', async (_, one) => {
    const loaded = await loadTexts(streamOf(one));
    expect(loaded).toEqual({ type: one.duckType, values: [...one.values, ...one.values], names: ['a'] });
  });
});

test('a stream without batches gives an empty table with its columns', async () => {
  const one = scalarCases.find((column) => column.what === 'utf8') as ColumnCase;
  expect(await loadTexts(Buffer.concat([schemaMessage([one.field]), endOfStream]))).toMatchObject({
    type: 'VARCHAR',
    values: [],
  });
  expect(await loadTexts(schemaMessage([one.field]))).toMatchObject({ type: 'VARCHAR', values: [] });
});

test('the names are those of the schema, empty and repeated ones too', async () => {
  const field = { type: [1, {}] } as const;
  const fields = ['x', 'X', 'x', '', 'a "b"'].map((name) => ({ ...field, name }));
  await using table = await loadArrowStream(connection, pieces(schemaMessage(fields)));
  expect(table.names).toEqual(['x', 'X', 'x', '', 'a "b"']);
});

test('disposing drops the table, and so does a failure', async () => {
  const tables = (): Promise<unknown[]> => connection.rows('SELECT table_name FROM duckdb_tables()');
  const stream = streamOf(scalarCases[4] as ColumnCase);
  const table = await loadArrowStream(connection, pieces(stream));
  expect(await tables()).toHaveLength(1);
  await table[Symbol.asyncDispose]();
  await failure(stream.subarray(0, stream.length - 20));
  expect(await tables()).toEqual([]);
});

test('the size of the pieces does not matter', async () => {
  const one = dictionaryCases[0] as ColumnCase;
  const stream = streamOf(one);
  for (const size of [1, 7, 8, 100_000]) {
    await using table = await loadArrowStream(connection, pieces(stream, size));
    const rows = await connection.rows<{ c0: string | null }>(`SELECT * FROM ${table.sql}`);
    expect(rows.map((row) => row.c0)).toEqual([...one.values, ...one.values]);
  }
});

test('a dictionary that columns of different types share is refused', async () => {
  const texts = (dictionaryCases[0] as ColumnCase).field;
  const numbers = (dictionaryCases.find((one) => one.what === 'int64 values') as ColumnCase).field;
  expect(await failure(schemaMessage([texts, numbers]))).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('message 1 at byte 0: column "a" shares the dictionary 9'),
  });
});

test('an aborted load stops and leaves no table', async () => {
  const { field, batch } = scalarCases[4] as ColumnCase;
  const abort = new AbortController();
  async function* input(): AsyncGenerator<Uint8Array> {
    yield schemaMessage([field]);
    yield batchMessage(batch);
    abort.abort(new Error('enough'));
    yield batchMessage(batch);
  }
  await expect(loadArrowStream(connection, input(), { signal: abort.signal })).rejects.toThrow('enough');
  expect(await connection.rows('SELECT table_name FROM duckdb_tables()')).toEqual([]);
});

describe('rows past the first chunk', () => {
  const rows = 10_007;
  const isNull = (row: number): boolean => row % 7 === 3;
  const texts = Array.from({ length: rows }, (_, row) =>
    isNull(row) ? null : `text number ${row} ${'x'.repeat(row % 20)}`,
  );
  const list = new arrow.List(new arrow.Field('item', new arrow.Int32(), true));
  const lists = Array.from({ length: rows }, (_, row) =>
    isNull(row) ? null : Array.from({ length: row % 9 }, (_, n) => (n === 4 ? null : row * 10 + n)),
  );
  const table = new arrow.Table({
    text: arrow.vectorFromArray(texts, new arrow.Utf8()),
    flag: arrow.vectorFromArray(
      texts.map((_, row) => (isNull(row) ? null : row % 3 === 0)),
      new arrow.Bool(),
    ),
    list: arrow.vectorFromArray(lists, list),
    code: arrow.vectorFromArray(
      texts.map((_, row) => (isNull(row) ? null : `code ${row % 5}`)),
      new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
    ),
    array: arrow.vectorFromArray(
      texts.map((_, row) => (isNull(row) ? null : [row, null, row + 1])),
      new arrow.FixedSizeList(3, new arrow.Field('item', new arrow.Int32(), true)),
    ),
    struct: arrow.vectorFromArray(
      texts.map((text, row) => (isNull(row) ? null : { text, list: row % 2 === 0 ? lists[row] : null })),
      new arrow.Struct([new arrow.Field('text', new arrow.Utf8(), true), new arrow.Field('list', list, true)]),
    ),
  });

  test('are as apache-arrow wrote them', async () => {
    await using loaded = await loadArrowStream(connection, pieces(arrow.tableToIPC(table, 'stream')));
    expect(loaded.names).toEqual(['text', 'flag', 'list', 'code', 'array', 'struct']);
    const got = await connection.rows<Record<string, unknown>>(`SELECT * FROM ${loaded.sql}`);
    expect(got).toHaveLength(rows);
    got.forEach((row, index) => {
      const wanted = isNull(index)
        ? { c0: null, c1: null, c2: null, c3: null, c4: null, c5: null }
        : {
            c0: texts[index],
            c1: index % 3 === 0,
            c2: lists[index],
            c3: `code ${index % 5}`,
            c4: [index, null, index + 1],
            c5: { text: texts[index], list: index % 2 === 0 ? lists[index] : null },
          };
      expect(row).toEqual(wanted);
    });
  });
});

describe('what is not accepted is refused by name', () => {
  const offer = (type: RawField['type'], more: Partial<RawField> = {}): Uint8Array =>
    schemaMessage([{ name: 'odd one', type, ...more }]);
  const int: RawField = { name: 'n', type: [2, { 0: i32(32), 1: i8(1) }] };
  test.each([
    ['run_end_encoded', offer([22, {}], { children: [int, int] })],
    ['list_view', offer([25, {}], { children: [int] })],
    ['decimals of 39 digits', offer([7, { 0: i32(39), 1: i32(0), 2: i32(256) }])],
    ['scale -1', offer([7, { 0: i32(9), 1: i32(-1) }])],
    ['without fields', offer([13, {}])],
    ['without a proper name', offer([13, {}], { children: [{ ...int, name: '' }] })],
    ['the field name "N" twice', offer([13, {}], { children: [int, { ...int, name: 'N' }] })],
    ['fixed size 0', offer([16, { 0: i32(0) }], { children: [int] })],
    ['fixed-size lists of', offer([16, { 0: i32(50_000) }], { children: [int] })],
  ])('%s', async (what, stream) => {
    const error = await failure(stream);
    expect(error.code).toBe('unsupported_type');
    expect(error.message).toContain('column "odd one"');
    expect(error.message).toContain(what);
  });

  const caseOf = (what: string): ColumnCase =>
    [...scalarCases, ...nestedCases].find((one) => one.what === what) as ColumnCase;
  const withData = (what: string, data: ArrayBufferView): Uint8Array => {
    const { field, batch } = caseOf(what);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return streamOf({
      field,
      batch: { ...batch, buffers: [batch.buffers[0] as Uint8Array, bytes, ...batch.buffers.slice(2)] },
    });
  };
  test.each([
    ['a zoned timestamp', withData('timestamp[ns, zone]', BigInt64Array.of(1n, 0n, 0n))],
    ['a duration', withData('duration[ns]', BigInt64Array.of(1000n, 0n, 1n))],
    ['an interval', withData('interval[month_day_nano]', BigInt64Array.of(0n, 1n, 0n, 0n, 0n, 0n))],
    ['a date64', withData('date64', BigInt64Array.of(1n, 0n, 0n))],
  ])('a loss of precision: %s', async (_, stream) => {
    expect(await failure(stream)).toMatchObject({
      code: 'unsupported_type',
      message: expect.stringContaining('column "a"'),
    });
  });

  test.each([
    ['a decimal past its precision', withData('decimal128(4,2)', BigInt64Array.of(10_000n, 0n, 0n, 0n, 0n, 0n))],
    ['a decimal past 64 bits', withData('decimal128(18,3)', BigInt64Array.of(0n, 1n, 0n, 0n, 0n, 0n))],
    ['a time past midnight', withData('time32[s]', Int32Array.of(86_401, 0, 0))],
    ['a timestamp past the year 294247', withData('timestamp[s]', BigInt64Array.of(10n ** 13n, 0n, 0n))],
    ['a date64 past 32 bits of days', withData('date64', BigInt64Array.of(86_400_000n * 2n ** 32n, 0n, 0n))],
  ])('a value out of range: %s', async (_, stream) => {
    expect(await failure(stream)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/message 2 at byte \d+: column "a" .*row 0/),
    });
  });
});

test('a million rows in many batches arrive whole and in order', async () => {
  const rows = 1_000_000;
  const messages = [...tradesStream(rows, 30_000)];
  async function* input(): AsyncGenerator<Uint8Array> {
    yield* messages;
  }
  await using table = await loadArrowStream(connection, input());
  const [sums] = await connection.rows(
    `SELECT count(*)::INTEGER AS rows, sum(c5)::BIGINT AS ids, count(*) FILTER (c5 <> rowid)::INTEGER AS misplaced,
            sum(length(c1))::INTEGER AS symbols, count(DISTINCT c1)::INTEGER AS different, max(c0)::VARCHAR AS last
     FROM ${table.sql}`,
  );
  expect(sums).toEqual({
    rows,
    ids: (rows * (rows - 1)) / 2,
    misplaced: 0,
    symbols: (rows / 4) * (8 * 3 + 25),
    different: 4,
    last: '2023-11-14 22:29:59.999',
  });
});

describe('lists that would not fit a chunk', () => {
  const none = new Uint8Array(0);
  const field: RawField = { name: 'a', type: [12, {}], children: [{ name: 'item', type: [1, {}] }] };
  const listsOf = (elements: number, rows: number): Uint8Array => {
    const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * elements);
    const nodes = [
      [rows, 0],
      [rows * elements, rows * elements],
    ] as const;
    return Buffer.concat([
      schemaMessage([field]),
      batchMessage({ rows, nodes, buffers: [none, new Uint8Array(offsets.buffer)] }),
    ]);
  };

  test('are appended fewer at a time', async () => {
    await using table = await loadArrowStream(connection, pieces(listsOf(1_000_000, 20)));
    const lengths = await connection.rows<{ n: number }>(`SELECT len(c0) AS n FROM ${table.sql}`);
    expect(lengths.map((row) => row.n)).toEqual(Array.from({ length: 20 }, () => 1_000_000));
  });

  test('are refused when a single one is larger than that', async () => {
    expect(await failure(listsOf(2 ** 31 - 1, 1))).toMatchObject({
      code: 'unsupported_type',
      message: 'column "a" holds a list with too many elements (row 0), which is not accepted',
    });
  });
});
