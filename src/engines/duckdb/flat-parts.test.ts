import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Column, type DataType, only } from '@framehold/columns';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrowMessages, arrowStream } from '../../../test/support/arbitrary-arrow.ts';
import { anyTable } from '../../../test/support/arbitrary-table.ts';
import { dictionaryCases, scalarCases } from '../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  i16,
  schemaMessage,
} from '../../../test/support/arrow-stream-writer.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { AppError } from '../../core/errors/app-error.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import type { WrittenPart } from '../../core/rows/frame-engine.ts';
import { DuckDbEngine } from './duckdb-engine.ts';

const never = new AbortController().signal;
const compression = { algorithm: 'zstd', level: 1 } as const;

let directory: TemporaryDirectory;
let engine: DuckDbEngine;
beforeAll(async () => {
  directory = await temporaryDirectory();
  engine = newEngine();
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

function newEngine(memoryBytes = 500_000_000): DuckDbEngine {
  return new DuckDbEngine({
    workers: 1,
    threads: 1,
    memoryBytes,
    tempDirectory: join(directory.path, 'spill'),
    maxTempBytes: 10_000_000_000,
    maxQueue: 100,
    timeoutMs: 0,
    logger: silentLogger,
  });
}

let files = 0;
const newPath = (): string => join(directory.path, `part-${files++}.parquet`);

async function write(
  stream: Uint8Array,
  compressesLater: boolean,
  path = newPath(),
  by = engine,
): Promise<WrittenPart> {
  return await by.write(
    { source: { kind: 'arrow', stream: only(stream) }, path, compression, compressesLater },
    { signal: never },
  );
}

async function textOf(path: string, { rows, columns }: WrittenPart): Promise<string> {
  const pieces: Uint8Array[] = [];
  const job = { parts: [{ path, rows }], columns, form: 'ndjson', fromRow: 0, toRow: rows, chunkRows: 4096 } as const;
  for await (const { bytes } of engine.read(job, { signal: never })) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

/**
 * Writes rows at once and by way of DuckDB; gives the first part, or undefined where both refuse for the same reason. Types that
 * only DuckDB can write have one way.
 */
async function writtenAlike(stream: Uint8Array): Promise<WrittenPart | undefined> {
  const [path, other] = [newPath(), newPath()];
  const failure = (error: AppError): AppError => error;
  const plain = await write(stream, true, path).catch(failure);
  if ('isCompressed' in plain && plain.isCompressed) return plain;
  const expected = await write(stream, false, other).catch(failure);
  if ('code' in expected || 'code' in plain) {
    expect(plain).toMatchObject({ code: (expected as AppError).code, message: (expected as AppError).message });
    return undefined;
  }
  expect(expected.isCompressed).toBe(true);
  expect(plain.columns).toEqual(expected.columns);
  expect(plain.rows).toBe(expected.rows);
  expect(await textOf(path, plain)).toBe(await textOf(other, expected));
  expect(await engine.hasChecksum(path, plain.checksum, { signal: never })).toBe(true);
  expect((await readFile(path)).length).toBe(plain.bytes);
  return plain;
}

/** Categories, views and plain columns with enough rows for several steps. */
function foldedStream(rows: number): Uint8Array {
  const none = new Uint8Array(0);
  const every = (n: number): Uint8Array => {
    const bits = new Uint8Array((rows + 7) >> 3).fill(255);
    for (let row = 0; row < rows; row += n) bits[row >> 3] = (bits[row >> 3] as number) & ~(1 << (row & 7));
    return bits;
  };
  const texts = Array.from({ length: 300 }, (_, n) => `word ${n} ${'y'.repeat(n % 40)}`);
  const ends = [0];
  for (const each of texts) ends.push((ends.at(-1) ?? 0) + each.length);
  const words = [none, new Uint8Array(Int32Array.from(ends).buffer), Buffer.from(texts.join(''))];
  const indices = Int16Array.from({ length: rows }, (_, row) => (row * 7) % 300);
  const views = Buffer.alloc(rows * 16);
  for (let row = 0; row < rows; row++) {
    const at = (row * 11) % 300;
    const [from, text] = [ends[at] as number, texts[at] as string];
    views.writeInt32LE(text.length, row * 16);
    views.write(text.slice(0, text.length > 12 ? 4 : 12), row * 16 + 4);
    if (text.length > 12) views.writeInt32LE(from, row * 16 + 12);
  }
  const numbers = Float64Array.from({ length: rows }, (_, row) => row / 3);
  const nulls = [7, 5, 3, 9];
  const nodes = nulls.map((n) => [rows, Math.ceil(rows / n)] as const);
  return Buffer.concat([
    schemaMessage([
      { name: 'category', type: [5, {}], dictionary: { id: 1, bits: 16, signed: true } },
      { name: 'view', type: [24, {}] },
      { name: 'flag', type: [6, {}] },
      { name: 'number', type: [3, { 0: i16(2) }] },
    ]),
    dictionaryMessage(1, { rows: 300, nodes: [[300, 0]], buffers: words }),
    batchMessage({
      rows,
      nodes,
      viewedCounts: [1],
      buffers: [
        ...[every(7), new Uint8Array(indices.buffer)],
        ...[every(5), views, words[2] as Uint8Array],
        ...[every(3), every(4)],
        ...[every(9), new Uint8Array(numbers.buffer)],
      ],
    }),
    endOfStream,
  ]);
}

/** Columns of one long text, over and over, from a dictionary that they share. */
function manyOf(size: { readonly megabytes: number; readonly rows: number; readonly columns: number }): Uint8Array {
  const { megabytes, rows } = size;
  const word = Buffer.alloc(megabytes * 1_000_000, 'x');
  const none = new Uint8Array(0);
  const words = [none, new Uint8Array(Int32Array.of(0, word.length).buffer), word];
  const names = Array.from({ length: size.columns }, (_, index) => `c${index}`);
  return Buffer.concat([
    schemaMessage(names.map((name) => ({ name, type: [5, {}], dictionary: { id: 1, bits: 8, signed: true } }))),
    dictionaryMessage(1, { rows: 1, nodes: [[1, 0]], buffers: words }),
    batchMessage({
      rows,
      nodes: names.map(() => [rows, 0] as const),
      buffers: names.flatMap(() => [none, new Uint8Array(rows)]),
    }),
    endOfStream,
  ]);
}

describe('a file that is compressed later is as DuckDB would write it', () => {
  test('categories and views of many rows', async () => {
    expect(await writtenAlike(foldedStream(30_001))).toMatchObject({ rows: 30_001, isCompressed: false });
  });

  test.each([...scalarCases, ...dictionaryCases])('$name', async ({ field, batch, dictionaries = [] }) => {
    const parts = dictionaries.map((one) => dictionaryMessage(one.id, one.batch, one.isDelta));
    await writtenAlike(Buffer.concat([schemaMessage([field]), ...parts, batchMessage(batch), endOfStream]));
  });

  test('arbitrary tables', { timeout: 120_000 }, async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(anyTable, fc.integer({ min: 1, max: 9 }), async ({ columns, rows }, batchRows) => {
        const part = await writtenAlike(arrowStream(arrowMessages(columns, rows, batchRows)));
        if (part?.isCompressed === false) plain++;
      }),
      { numRuns: 40 },
    );
    expect(plain).toBeGreaterThan(0);
  });

  const flatTypes: readonly { readonly type: DataType; readonly value: (n: number) => unknown }[] = [
    { type: { kind: 'boolean' }, value: (n) => n % 3 === 0 },
    { type: { kind: 'int', bits: 8, signed: true }, value: (n) => (n % 256) - 128 },
    { type: { kind: 'int', bits: 8, signed: false }, value: (n) => n % 256 },
    { type: { kind: 'int', bits: 16, signed: true }, value: (n) => (n % 65_536) - 32_768 },
    { type: { kind: 'int', bits: 16, signed: false }, value: (n) => n % 65_536 },
    { type: { kind: 'int', bits: 32, signed: true }, value: (n) => n * 31_000 - 2 ** 31 },
    { type: { kind: 'int', bits: 32, signed: false }, value: (n) => n * 31_000 },
    { type: { kind: 'int', bits: 64, signed: true }, value: (n) => BigInt(n - 60_000) * 2n ** 44n },
    { type: { kind: 'int', bits: 64, signed: false }, value: (n) => BigInt(n) * 2n ** 46n },
    { type: { kind: 'float', bits: 32 }, value: (n) => n / 8 },
    { type: { kind: 'float', bits: 64 }, value: (n) => n / 7 - 1000 },
    { type: { kind: 'decimal', precision: 7, scale: 2 }, value: (n) => BigInt(n - 70_000) },
    { type: { kind: 'decimal', precision: 18, scale: 4 }, value: (n) => BigInt(n - 70_000) * 10n ** 10n },
    { type: { kind: 'decimal', precision: 38, scale: 9 }, value: (n) => BigInt(n - 70_000) * 10n ** 30n },
    { type: { kind: 'utf8' }, value: (n) => (n % 5 === 0 ? 'zwölf' : `t${n % 100}`) },
    { type: { kind: 'utf8' }, value: (n) => `nobody else has ${n}` },
    { type: { kind: 'json' }, value: (n) => `{"n":${n % 10}}` },
    { type: { kind: 'binary' }, value: (n) => Uint8Array.of(n, n >> 8, 0) },
    { type: { kind: 'date' }, value: (n) => n - 50_000 },
    { type: { kind: 'time', unit: 'us' }, value: (n) => BigInt(n) * 600_000n },
    { type: { kind: 'time', unit: 'ns' }, value: (n) => BigInt(n) * 600_000_001n },
    { type: { kind: 'timestamp', unit: 'us', zoned: false }, value: (n) => BigInt(n - 9) * 10n ** 10n },
    { type: { kind: 'timestamp', unit: 'us', zoned: true }, value: (n) => BigInt(n - 9) * 10n ** 10n },
    { type: { kind: 'timestamp', unit: 'ns', zoned: false }, value: (n) => BigInt(n - 9) * 10n ** 13n + 1n },
  ];
  const columns: readonly Column[] = flatTypes.map(({ type }, index) => ({ name: `c${index}`, type }));

  test.each([
    ['without rows', 0, 1000],
    ['of one row', 1, 1000],
    ['of rows that end within a byte of bits', 1001, 13],
    ['of several row groups, in batches that end within them', 70_003, 20_001],
  ])('all flat types %s', { timeout: 120_000 }, async (_, count, batchRows) => {
    const rows = Array.from({ length: count }, (_, n) =>
      flatTypes.map(({ value }, column) => ((n + column) % 11 === 0 && n % 70_000 > 999 ? null : value(n))),
    );
    const part = await writtenAlike(arrowStream(arrowMessages(columns, rows, batchRows)));
    expect(part).toMatchObject({ isCompressed: false, rows: count });
  });

  test.each([
    ['one text alone', (): string => 'same'],
    ['nothing but nulls', (): null => null],
    ['empty texts', (n: number): string => (n % 2 === 0 ? '' : 'x')],
    ['more texts than a dictionary holds', (n: number): string => `${n % 9000}`],
    ['texts that repeat only at first', (n: number): string => (n < 4000 ? 'often' : `${n}`)],
    ['texts that differ in their middle alone', (n: number): string => `${'a'.repeat(70)}${n % 300}${'b'.repeat(70)}`],
    ['texts of many lengths', (n: number): string => 'é'.repeat(n % 50)],
  ])('a column of %s', { timeout: 120_000 }, async (_, value) => {
    const texts = [{ name: 'text', type: { kind: 'utf8' } }] as const;
    const rows = Array.from({ length: 70_000 }, (_, n) => [value(n)]);
    expect(await writtenAlike(arrowStream(arrowMessages(texts, rows, 30_000)))).toMatchObject({ isCompressed: false });
  });

  test('a row group ends early where its rows are long', { timeout: 120_000 }, async () => {
    const texts = [{ name: 'text', type: { kind: 'utf8' } }] as const;
    const rows = Array.from({ length: 9000 }, (_, n) => [`${n}${'x'.repeat(8000)}`]);
    const part = await writtenAlike(arrowStream(arrowMessages(texts, rows, 1000)));
    expect(part).toMatchObject({ isCompressed: false, rows: 9000 });
  });

  test('many row groups of texts, decimals and short integers', { timeout: 120_000 }, async () => {
    const mixed = [
      { name: 'text', type: { kind: 'utf8' } },
      { name: 'decimal', type: { kind: 'decimal', precision: 18, scale: 2 } },
      { name: 'short', type: { kind: 'int', bits: 16, signed: true } },
    ] as const;
    const rows = Array.from({ length: 3 * 65_536 }, (_, n) => [
      `${n} ${'z'.repeat(n % 31)}`,
      BigInt(n) * 7n,
      n % 30_000,
    ]);
    const part = await writtenAlike(arrowStream(arrowMessages(mixed, rows, 8192)));
    expect(part).toMatchObject({ isCompressed: false, rows: 3 * 65_536 });
  });

  test('more columns than the system takes pieces at once', { timeout: 120_000 }, async () => {
    const wide = Array.from({ length: 1100 }, (_, index) => ({ name: `c${index}`, type: flatTypes[index % 24]?.type }));
    const rows = Array.from({ length: 5 }, (_, n) => wide.map((_, index) => flatTypes[index % 24]?.value(n)));
    const part = await writtenAlike(arrowStream(arrowMessages(wide as Column[], rows, 3)));
    expect(part).toMatchObject({ isCompressed: false, rows: 5 });
  });

  test('names that repeat, differ in case alone, or are empty', async () => {
    const names = ['a', 'A', 'a', '', 'a"b\n'].map((name) => ({ name, type: { kind: 'date' } }) as const);
    const part = await writtenAlike(arrowStream(arrowMessages(names, [[1, 2, 3, 4, 5]])));
    expect(part?.columns.map((column) => column.name)).toEqual(['a', 'A', 'a', '', 'a"b\n']);
    expect(part?.isCompressed).toBe(false);
  });
});

describe('a file that is compressed later', () => {
  const numbers = [{ name: 'n', type: { kind: 'float', bits: 64 } }] as const;
  const rows = Array.from({ length: 100_000 }, (_, n) => [n]);
  const stream = arrowStream(arrowMessages(numbers, rows, 10_000));

  test('needs no more than asked where no compression is wanted', async () => {
    const job = { source: { kind: 'arrow', stream: only(stream) }, compressesLater: true } as const;
    const none = { algorithm: 'uncompressed', level: undefined } as const;
    const part = await engine.write({ ...job, path: newPath(), compression: none }, { signal: never });
    expect(part.isCompressed).toBe(true);
  });

  test('is made of a dictionary also where few bytes of it stand for more than could be held', {
    timeout: 180_000,
  }, async () => {
    const [megabytes, rows] = [3, 100];
    const path = newPath();
    await using fresh = newEngine(200_000_000);
    const part = await write(manyOf({ megabytes, rows, columns: 1 }), true, path, fresh);
    expect(part).toMatchObject({ rows, isCompressed: false });
    const job = { parts: [{ path, rows }], columns: part.columns, form: 'ndjson', chunkRows: 4096 } as const;
    let bytes = 0;
    for await (const piece of fresh.read({ ...job, fromRow: 90, toRow: rows }, { signal: never })) {
      bytes += piece.bytes.length;
    }
    expect(bytes).toBeGreaterThan(10 * megabytes * 1_000_000);
  });

  test('that needs more memory than there is costs one process and an error', { timeout: 180_000 }, async () => {
    await using fresh = newEngine(100_000_000);
    const huge = write(manyOf({ megabytes: 30, rows: 1, columns: 75 }), true, newPath(), fresh);
    await expect(huge).rejects.toMatchObject({ code: 'sql_out_of_memory' });
    expect(await write(stream, true, newPath(), fresh)).toMatchObject({ rows: 100_000 });
  });

  test('is not there when its rows end too soon', async () => {
    const path = newPath();
    const broken = stream.subarray(0, stream.length - 1000);
    await expect(write(broken, true, path)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('the stream ends inside it'),
    });
    await expect(open(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is not there when its client goes', async () => {
    const path = newPath();
    const abort = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield stream.subarray(0, stream.length / 2);
      abort.abort();
      await new Promise(() => {});
    }
    const job = { source: { kind: 'arrow', stream: endless() }, path, compression, compressesLater: true } as const;
    await expect(engine.write(job, { signal: abort.signal })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(open(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('a column with a NUL in its name, which native code would cut there, is refused', async () => {
  const [int64] = scalarCases.filter((one) => one.what === 'int64');
  if (int64 === undefined) throw new Error('there is no such case');
  const stream = Buffer.concat([
    schemaMessage([{ ...int64.field, name: 'a\0b' }]),
    batchMessage(int64.batch),
    endOfStream,
  ]);
  await expect(write(stream, true)).rejects.toMatchObject({ code: 'unsupported_type' });
  await expect(write(stream, false)).rejects.toMatchObject({ code: 'unsupported_type' });
});
