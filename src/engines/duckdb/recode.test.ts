import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { arrowFields, schemaMessage as ourSchema } from '@framehold/arrow-ipc';
import { type Column, only } from '@framehold/columns';
import { Session } from '@framehold/duckdb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrowMessages, arrowStream } from '../../../test/support/arbitrary-arrow.ts';
import { anyTable } from '../../../test/support/arbitrary-table.ts';
import { dictionaryCases, nestedCases, scalarCases } from '../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  schemaMessage,
} from '../../../test/support/arrow-stream-writer.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import type { ChunkForm } from '../../core/rows/frame-engine.ts';
import type { RecodeRows, SqlResult } from '../../core/sql/sql.ts';
import { rowEncoder } from '../../encoding/row-encoder.ts';
import { DuckDbSqlEngine } from './duckdb-sql-engine.ts';
import { NativeCopies } from './native-copies.ts';
import { loadArrowStream } from './worker/append/arrow-to-table.ts';

const never = new AbortController().signal;
const forms: readonly ChunkForm[] = ['exec-json', 'exec-json-quoted', 'arrow', 'ndjson', 'csv:,', 'csv-safe:;'];

let directory: TemporaryDirectory;
let nativeCopies: NativeCopies;
let engine: DuckDbSqlEngine;
let session: Session;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const tempDirectory = join(directory.path, 'spill');
  session = new Session({ threads: 1, memoryBytes: 1e9, tempDirectory, maxTempBytes: 1e8 });
  const root = join(directory.path, 'warm');
  nativeCopies = new NativeCopies({ root, budgetBytes: 0, copy: async () => {}, logger: silentLogger });
  engine = new DuckDbSqlEngine({
    threads: 1,
    memoryBytes: 300_000_000,
    tempDirectory,
    maxTempBytes: 1_000_000_000,
    maxQueue: 100,
    workers: 1,
    timeoutMs: 60_000,
    nativeCopies,
    logger: silentLogger,
    reach: {
      coldDirectory: directory.path,
      warmDirectory: nativeCopies.directory,
      analyticsPath: join(directory.path, 'analytics.duckdb'),
    },
  });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await nativeCopies[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

type Wanted = Omit<RecodeRows, 'form'>;

interface Answer {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly total: number;
  readonly bytes: Buffer;
}

async function answerOf(result: SqlResult): Promise<Answer> {
  await using it = result;
  const pieces: Uint8Array[] = [];
  let rows = 0;
  for await (const piece of it.rows()) {
    pieces.push(piece.bytes);
    rows += piece.rows;
  }
  return { columns: it.columns, rows, total: it.totalRows, bytes: Buffer.concat(pieces) };
}

async function direct(sql: string, form: ChunkForm, wanted: Wanted = {}): Promise<Answer> {
  const query = { sql, tables: [], parameterCount: 0 };
  return answerOf(await engine.run({ query, tables: [], form, ...wanted }, { signal: never }));
}

async function recoded(bytes: Uint8Array, form: ChunkForm, wanted: Wanted = {}): Promise<Answer> {
  return answerOf(await engine.recode(only(bytes), { form, ...wanted }, { signal: never }));
}

async function arrowOf(sql: string): Promise<Buffer> {
  const query = { sql, tables: [], parameterCount: 0 };
  await using result = await engine.run({ query, tables: [], form: 'arrow' }, { signal: never });
  const pieces: Uint8Array[] = [];
  for await (const piece of result.arrowStream()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function assertSame(sql: string, stream: Uint8Array, wanted: Wanted = {}): Promise<void> {
  for (const form of forms) {
    const one = await direct(sql, form, wanted);
    const other = await recoded(stream, form, wanted);
    expect([form, other.columns, other.rows, other.total]).toEqual([form, one.columns, one.rows, one.total]);
    const isSame = form === 'arrow' ? (await textOf(other)) === (await textOf(one)) : other.bytes.equals(one.bytes);
    expect(isSame, `${form}: ${other.bytes.toString('latin1').slice(0, 300)}`).toBe(true);
  }
}

/** The rows of record batches, which may be cut at other rows and hold any bytes under nulls. */
async function textOf({ columns, bytes }: Answer): Promise<string> {
  const stream = Buffer.concat([ourSchema(arrowFields(columns)), bytes, endOfStream]);
  return (await recoded(stream, 'ndjson')).bytes.toString();
}

/** Values of every type that a query can give, as SQL. */
const values: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['-128', '127'],
  SMALLINT: ['-32768', '32767'],
  INTEGER: ['-2147483648', '2147483647'],
  BIGINT: ['-9223372036854775808', '9223372036854775807'],
  HUGEINT: ['-99999999999999999999999999999999999999', '1'],
  UTINYINT: ['0', '255'],
  USMALLINT: ['0', '65535'],
  UINTEGER: ['0', '4294967295'],
  UBIGINT: ['0', '18446744073709551615'],
  UHUGEINT: ['0', '99999999999999999999999999999999999999'],
  FLOAT: ['1.5', "'nan'", "'-inf'", '0.1'],
  DOUBLE: ['0.1', '1e300', "'inf'", '-0.0'],
  'DECIMAL(4,1)': ['-999.9', '0.1'],
  'DECIMAL(9,2)': ['-9999999.99', '0.01'],
  'DECIMAL(18,3)': ['-999999999999999.999', '0.001'],
  'DECIMAL(38,10)': ['-9999999999999999999999999999.9999999999', '0.0000000001'],
  VARCHAR: ["''", "'Ä'", "'a text of more than twelve bytes 🦆'", "'=1+1'"],
  JSON: [`'{"a":[1,2]}'`, "'null'"],
  UUID: ["'00112233-4455-6677-8899-aabbccddeeff'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
  BLOB: ["'\\x00\\xFF'::BLOB", "''::BLOB"],
  DATE: ["'2026-01-31'", "'0044-03-15 (BC)'", "'infinity'"],
  TIME: ["'23:59:59.999999'", "'24:00:00'"],
  TIME_NS: ["'23:59:59.999999999'", "'00:00:00'"],
  TIMESTAMP: ["'2026-01-31 12:00:00.123456'", "'-infinity'", "'290309-12-22 (BC) 00:00:00'"],
  TIMESTAMP_S: ["'2026-01-31 12:00:00'", "'1969-12-31 23:59:59'"],
  TIMESTAMP_MS: ["'2026-01-31 12:00:00.123'", "'1969-12-31 23:59:59.999'"],
  TIMESTAMP_NS: ["'2026-01-31 12:00:00.123456789'", "'1969-12-31 23:59:59.999999999'"],
  TIMESTAMPTZ: ["'2026-01-31 12:00:00.123456+02'", "'1969-12-31 23:59:59.999999+00'"],
  INTERVAL: ["'1 year 2 months 3 days 4 hours 5.5 seconds'", "'-1 month'"],
  'INTEGER[]': ['[1, NULL, 3]', '[]'],
  'UUID[]': ["['00112233-4455-6677-8899-aabbccddeeff']", '[NULL]'],
  'VARCHAR[][]': ["[['a', NULL], NULL, []]", '[]'],
  'INTEGER[3]': ['[1, NULL, 3]', '[4, 5, 6]'],
  'STRUCT(a INTEGER, "b c" VARCHAR)': ["{'a': 1, 'b c': NULL}", "{'a': NULL, 'b c': 'x'}"],
  'STRUCT(a STRUCT(b INTEGER[]))': ["{'a': {'b': [1]}}", "{'a': NULL}"],
  'MAP(VARCHAR, INTEGER)': ["MAP {'a': 1, 'b': NULL}", 'MAP {}'],
  'MAP(INTEGER, STRUCT(a DATE))': ["MAP {1: {'a': DATE '2026-01-01'}}", 'MAP {2: NULL}'],
  'UNION(n INTEGER, s VARCHAR)': ['1', "'a'"],
  "ENUM('x', 'y')": ["'x'", "'y'"],
};

function tableOf(type: string): string {
  const items = [...(values[type] ?? []), 'NULL'].map((value) => `(CAST(${value} AS ${type}))`);
  return `SELECT v FROM (VALUES ${items.join(', ')}) t(v)`;
}

describe('rows that were a query’s own are the same again', () => {
  test.each(Object.keys(values))('%s', async (type) => {
    const sql = tableOf(type);
    await assertSame(sql, await arrowOf(sql));
    const present = `SELECT * FROM (${sql}) t WHERE v IS NOT NULL`;
    const stream = await arrowOf(present);
    expect((await recoded(stream, 'arrow')).bytes).toEqual((await direct(present, 'arrow')).bytes);
  });

  test('all types at once, over many batches, any range of rows, some columns', { timeout: 120_000 }, async () => {
    const columns = Object.keys(values).map((type, index) => {
      const [first = 'NULL', second = 'NULL'] = values[type] ?? [];
      const cast = (value: string) => `CAST(${value} AS ${type})`;
      return `[${cast(first)}, ${cast(second)}, ${cast('NULL')}][n % 3 + 1] AS c${index}`;
    });
    const sql = `SELECT n, ${columns.join(', ')} FROM range(5000) r(n)`;
    const stream = await arrowOf(sql);
    await assertSame(sql, stream);
    await assertSame(sql, stream, { fromRow: 2047, toRow: 4097, countAll: true });
    await assertSame(sql, stream, { fromRow: 4999 });
    await assertSame(sql, stream, { fromRow: 5000, toRow: 5010 });
    await assertSame(sql, stream, { columns: ['c3', 'n', 'c3'], toRow: 100, countAll: true });
  });

  test('names that repeat, or are empty', async () => {
    const sql = `SELECT 1 AS a, 'x' AS a, 2 AS "A", 3 AS " "`;
    await assertSame(sql, await arrowOf(sql));
  });

  test('no rows', async () => {
    const sql = `SELECT 1 AS a, [{'b': 'c'}] AS d WHERE false`;
    await assertSame(sql, await arrowOf(sql));
    expect(await recoded(await arrowOf(sql), 'exec-json')).toMatchObject({ rows: 0, total: 0 });
  });
});

test('whoever has enough rows ends the stream', async () => {
  const messages = arrowMessages(
    [{ name: 'n', type: { kind: 'int', bits: 32, signed: true } }],
    Array.from({ length: 5000 }, (_, n) => [n]),
    100,
  );
  let sent = 0;
  let isClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    isClosed = resolve;
  });
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield messages[0] as Uint8Array;
      for (;;) {
        yield messages[1 + (sent++ % 50)] as Uint8Array;
      }
    } finally {
      isClosed();
    }
  }
  const wanted = { form: 'exec-json', toRow: 250 } as const;
  const answer = await answerOf(await engine.recode(endless(), wanted, { signal: never }));
  expect(answer.rows).toBe(250);
  await closed;
});

/** The same stream through a table of DuckDB's, as an upload goes. Undefined where DuckDB does not take it. */
async function throughTable(
  stream: Uint8Array,
  form: ChunkForm,
): Promise<Pick<Answer, 'columns' | 'bytes'> | undefined> {
  using connection = session.connect();
  try {
    await using table = await loadArrowStream(connection, only(stream));
    await using result = await connection.query(`SELECT * FROM ${table.sql}`);
    const columns = table.names.map((name, index) => ({ ...(result.columns[index] as Column), name }));
    const encoder = rowEncoder(result.columns, form);
    for await (const batch of result.batches()) encoder.encodeRows(batch, 0, batch.rows, Infinity);
    return { columns, bytes: Buffer.concat(encoder.take().pieces) };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

const textForms = forms.filter((form) => form !== 'arrow' && form !== 'ndjson');

describe('Arrow of others becomes what it would become by way of a table', () => {
  const isFiner = ({ what }: { readonly what: string }): boolean => what === 'timestamp[ns, zone]';
  const others = [...scalarCases, ...nestedCases, ...dictionaryCases].filter((one) => !isFiner(one));

  test('but for nanoseconds with a zone, which are kept', async () => {
    const { field, batch } = scalarCases.find(isFiner) ?? expect.unreachable();
    const stream = Buffer.concat([schemaMessage([field]), batchMessage(batch), endOfStream]);
    const { columns, bytes } = await recoded(stream, 'exec-json');
    expect(columns[0]?.type).toEqual({ kind: 'timestamp', unit: 'ns', zoned: true });
    expect(bytes.toString()).toMatch(/^\["\d{4}-.*\.\d{9}Z"\],/);
  });

  test('a NULL without a type is what it is in a query', async () => {
    const { columns } = await direct('SELECT NULL AS a', 'exec-json');
    const nulls = arrowStream(arrowMessages([{ name: 'a', type: { kind: 'null' } }], [[null]]));
    expect((await recoded(nulls, 'exec-json')).columns).toEqual(columns);
  });

  test.each(others)('$what', async (given) => {
    const { field, batch, dictionaries = [] } = given;
    const parts = dictionaries.map((one) => dictionaryMessage(one.id, one.batch, one.isDelta));
    const stream = Buffer.concat([schemaMessage([field]), ...parts, batchMessage(batch), endOfStream]);
    for (const form of textForms) {
      const { columns, bytes } = await recoded(stream, form);
      const expected = await throughTable(stream, form);
      expect(columns.map(({ type }) => type)).toEqual(expected?.columns.map(({ type }) => type));
      expect(bytes.toString()).toBe(expected?.bytes.toString());
    }
    // Our own Arrow of it has lost nothing.
    expect(await textOf(await recoded(stream, 'arrow'))).toBe((await recoded(stream, 'ndjson')).bytes.toString());
  });

  test('arbitrary tables', { timeout: 120_000 }, async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(anyTable, fc.integer({ min: 1, max: 9 }), async ({ columns, rows }, batchRows) => {
        const stream = arrowStream(arrowMessages(columns, rows, batchRows));
        const whole = await recoded(stream, 'exec-json');
        expect(whole.rows).toBe(rows.length);
        expect(whole.columns.map((column) => column.name)).toEqual(columns.map((column) => column.name));
        const expected = await throughTable(stream, 'exec-json');
        if (expected !== undefined) {
          compared++;
          expect(whole.columns).toEqual(expected.columns);
          expect(whole.bytes.toString()).toBe(expected.bytes.toString());
        }
        const [fromRow, toRow] = [rows.length >> 2, rows.length >> 1];
        const lines = (await recoded(stream, 'ndjson')).bytes.toString().split('\n').slice(fromRow, toRow);
        const range = await recoded(stream, 'ndjson', { fromRow, toRow });
        expect(range.bytes.toString()).toBe(lines.map((line) => `${line}\n`).join(''));
      }),
      { numRuns: 30 },
    );
    expect(compared).toBeGreaterThan(15);
  });
});

describe('a stream that is bad', () => {
  test('is an error of the engine that sent it, which says where', async () => {
    const stream = await arrowOf('SELECT n FROM range(100) r(n)');
    await expect(recoded(stream.subarray(0, stream.length - 20), 'exec-json')).rejects.toMatchObject({
      code: 'engine_unreachable',
      message: expect.stringMatching(
        /^the engine’s rows cannot be read: .* message 2 at byte \d+: the stream ends inside it$/,
      ),
    });
    await expect(recoded(Buffer.alloc(0), 'csv:,')).rejects.toMatchObject({ code: 'engine_unreachable' });
    await expect(recoded(Buffer.from('no Arrow at all'), 'csv:,')).rejects.toMatchObject({
      code: 'engine_unreachable',
    });
  });

  test('never ends a worker, whatever is wrong with it', { timeout: 120_000 }, async () => {
    const cases = [...scalarCases, ...nestedCases, ...dictionaryCases];
    const streams = cases.map(({ field, batch, dictionaries = [] }) => {
      const parts = dictionaries.map((one) => dictionaryMessage(one.id, one.batch, one.isDelta));
      return Buffer.concat([schemaMessage([field]), ...parts, batchMessage(batch), endOfStream]);
    });
    await recoded(streams[0] as Buffer, 'exec-json');
    const before = engine.pids;
    const flip = fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...streams),
        fc.array(flip, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...forms),
        async (stream, flips, form) => {
          const damaged = Buffer.from(stream);
          for (const [at, mask] of flips)
            damaged[at % damaged.length] = (damaged[at % damaged.length] as number) ^ mask;
          try {
            await recoded(damaged, form);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            expect(['engine_unreachable', 'unsupported_type', 'too_large']).toContain((error as AppError).code);
          }
        },
      ),
      { numRuns: Number(process.env.ARROW_DAMAGE_RUNS ?? 200) },
    );
    expect(engine.pids).toEqual(before);
  });

  test('that breaks off with an error of its own gives that error', async () => {
    const stream = await arrowOf('SELECT n FROM range(100000) r(n)');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield stream.subarray(0, stream.length / 2);
      throw new AppError('engine_timeout', 'the cluster took too long');
    }
    const wanted = { form: 'exec-json' } as const;
    const answer = engine.recode(broken(), wanted, { signal: never }).then(answerOf);
    await expect(answer).rejects.toMatchObject({ code: 'engine_timeout' });
  });
});

test('a column that is not there is named, with those that are', async () => {
  const stream = await arrowOf('SELECT 1 AS a, 2 AS b');
  await expect(recoded(stream, 'exec-json', { columns: ['c'] })).rejects.toMatchObject({
    code: 'invalid_parameter',
    hint: 'its columns are a, b',
  });
});

describe('a stream under way', () => {
  const messages = arrowMessages(
    [{ name: 'text', type: { kind: 'utf8' } }],
    Array.from({ length: 1000 }, () => ['x'.repeat(1000)]),
  );

  test('is cancelled in the middle, and the worker is free for the next', async () => {
    const controller = new AbortController();
    let isClosed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield messages[0] as Uint8Array;
        for (;;) yield messages[1] as Uint8Array;
      } finally {
        isClosed = true;
      }
    }
    await using result = await engine.recode(endless(), { form: 'exec-json' }, { signal: controller.signal });
    let pieces = 0;
    const reading = (async () => {
      for await (const _ of result.rows()) if (++pieces === 5) controller.abort();
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(await direct('SELECT 1 AS a', 'exec-json')).toMatchObject({ rows: 1 });
    expect(isClosed).toBe(true);
  });

  test('that has not begun is cancelled, too', async () => {
    const controller = new AbortController();
    async function* silent(): AsyncGenerator<Uint8Array> {
      await once(new AbortController().signal, 'abort');
      yield new Uint8Array(0);
    }
    const waiting = engine.recode(silent(), { form: 'exec-json' }, { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('may be far larger than what fits between the processes', { timeout: 60_000 }, async () => {
    async function* long(): AsyncGenerator<Uint8Array> {
      yield messages[0] as Uint8Array;
      for (let sent = 0; sent < 100; sent++) yield messages[1] as Uint8Array;
    }
    const answer = await answerOf(await engine.recode(long(), { form: 'exec-json' }, { signal: never }));
    expect(answer).toMatchObject({ rows: 100_000, total: 100_000 });
  });

  test('waits for a slow reader', async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield messages[0] as Uint8Array;
      for (;;) {
        sent++;
        yield messages[1] as Uint8Array;
      }
    }
    await using result = await engine.recode(endless(), { form: 'exec-json' }, { signal: never });
    const rows = result.rows()[Symbol.asyncIterator]();
    await rows.next();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await delay(300);
    }
    // A batch is 1 MB: the content of the pipe, the worker and its messages.
    expect(sent).toBeLessThan(80);
    await rows.return?.();
  });
});
