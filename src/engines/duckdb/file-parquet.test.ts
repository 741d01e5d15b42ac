import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../test/support/duckdb-connection.ts';
import { FileImports } from '../../../test/support/file-imports.ts';
import { repeatedParquet } from '../../../test/support/repeated-parquet.ts';
import { checksumOf } from './worker/parquet/checksum.ts';

const never = new AbortController().signal;

let files: FileImports;
let parquet: Buffer;
beforeAll(async () => {
  files = await FileImports.open();
  const path = join(files.directory.path, 'made.parquet');
  const source = { kind: 'sql', sql: "SELECT range AS n, 'x' || range AS t FROM range(10_000)" } as const;
  const compression = { algorithm: 'snappy', level: undefined } as const;
  await files.engine.write({ source, path, compression }, { signal: AbortSignal.timeout(20_000) });
  parquet = await readFile(path);
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

test('a Parquet file is kept byte for byte', async () => {
  const { part, path } = await files.put(parquet, { kind: 'parquet' });
  expect(await readFile(path)).toEqual(parquet);
  expect(part).toMatchObject({
    rows: 10_000,
    columns: [{ name: 'n' }, { name: 't' }],
    bytes: parquet.length,
    checksum: (await checksumOf(path, new AbortController().signal)).checksum,
    report: { rejectedRows: 0, rejections: [] },
  });
});

test('timestamps of the first day that nanoseconds reach are taken', async () => {
  const path = join(files.directory.path, 'early.parquet');
  await duckDbConnection().run(`COPY (SELECT make_timestamp_ns(-9223372036854775806) AS t) TO '${path}'`);
  const { rows } = await files.import(await readFile(path), { kind: 'parquet' });
  expect(rows).toEqual([['1677-09-21T00:12:43.145224194Z']]);
});

test('a long run of one value takes few bytes, and is taken', async () => {
  const zeros = repeatedParquet({ groupRows: 5_000_000, groups: 4 });
  expect(zeros.length).toBeLessThan(1000);
  const { part } = await files.put(zeros, { kind: 'parquet' });
  expect(part).toMatchObject({ rows: 20_000_000, columns: [{ name: 'a' }] });
});

test('an import that reads and writes nothing for too long is stopped, and the next one works', async () => {
  await using quick = await FileImports.open({ stallMs: 2000 });
  const endless = repeatedParquet({ groupRows: 2_000_000_000, groups: 2 });
  await expect(quick.put(endless, { kind: 'parquet' })).rejects.toMatchObject({
    code: 'sql_timeout',
    message: 'the work made no progress for 2 s',
  });
  expect((await quick.put(parquet, { kind: 'parquet' })).part.rows).toBe(10_000);
}, 60_000);

describe('rows that a file cannot hold are refused before they are read', () => {
  test.each([
    ['one column chunk in 2,000 row groups', { groupRows: 25_000_000, groups: 2000, overlaps: true }, 'overlap'],
    ['more values than its bytes can pay for', { groupRows: 2_000_000_000, groups: 3 }, 'too many'],
  ])(
    '%s',
    async (_, shape, words) => {
      const file = repeatedParquet(shape);
      const refusal = {
        code: 'invalid_input',
        message: expect.stringMatching(`^the file cannot be read as Parquet: it is damaged: .*${words}`),
      };
      await expect(files.put(file, { kind: 'parquet' })).rejects.toMatchObject(refusal);
      const path = join(files.directory.path, 'impossible.parquet');
      await writeFile(path, file);
      await expect(files.engine.probe(path, { signal: never })).rejects.toMatchObject(refusal);
    },
    10_000,
  );
});

describe('lists in lists, of which each takes twice the time of the one inside', () => {
  const nested = (depth: number): string => `SELECT ${'['.repeat(depth)}1${']'.repeat(depth)} AS v`;
  const write = (sql: string, name: string): Promise<unknown> => {
    const compression = { algorithm: 'zstd', level: 1 } as const;
    const path = join(files.directory.path, name);
    return files.engine.write({ source: { kind: 'sql', sql }, path, compression }, { signal: never });
  };
  const refusal = { code: 'unsupported_type', message: 'column "v" holds lists 17 deep; a frame keeps up to 16' };

  test('are kept up to a depth that can be read', async () => {
    const path = join(files.directory.path, 'deep.parquet');
    await write(nested(16), 'deep.parquet');
    const { rows } = await files.import(await readFile(path), { kind: 'parquet' });
    expect(JSON.stringify(rows)).toBe(`[[${'['.repeat(16)}1${']'.repeat(16)}]]`);
  });

  test.each([
    ['lists', nested(17)],
    ['in structs', `SELECT {'a': ${nested(17).slice(7, -5)}} AS v`],
    ['in a map', `SELECT MAP {'a': ${nested(16).slice(7, -5)}} AS v`],
  ])('are refused beyond it when they are written: %s', async (_, sql) => {
    await expect(write(sql, 'too-deep.parquet')).rejects.toMatchObject(refusal);
  });

  test('are refused beyond it in a file before its rows are read', async () => {
    const path = join(files.directory.path, 'foreign.parquet');
    await duckDbConnection().run(`COPY (${nested(60)}) TO '${path}'`);
    const taken = files.put(await readFile(path), { kind: 'parquet' });
    await expect(taken).rejects.toMatchObject({
      code: 'unsupported_type',
      message: expect.stringContaining('60 deep'),
    });
  });
});

describe('what cannot be read as Parquet is refused in plain words', () => {
  const withZeros = (): Buffer => Buffer.from(parquet).fill(0, parquet.length - 200, parquet.length - 8);
  test.each([
    ['nothing', () => Buffer.alloc(0), 'it is empty'],
    ['CSV', () => Buffer.from('a,b\n1,2\n'), 'it does not begin as one'],
    ['a file without its end', () => parquet.subarray(0, parquet.length - 100), 'its end is missing'],
    ['a file without its middle', () => Buffer.concat([parquet.subarray(0, 4), parquet.subarray(-8)]), 'is damaged'],
    ['a damaged footer', withZeros, 'is damaged'],
    ['damaged rows', () => Buffer.from(parquet).fill(255, 100, 2000), 'it is damaged'],
    ['encryption', () => Buffer.from('PAREsomething secretPARE'), 'it is encrypted'],
  ])('%s', async (_, content, words) => {
    const error = await files.put(content(), { kind: 'parquet' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(`^the file cannot be read as Parquet: .*${words}`),
    });
    expect((error as Error).message).not.toContain(files.directory.path);
  });
});
