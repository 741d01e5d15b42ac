import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports } from '../../../test/support/file-imports.ts';
import { checksumOf } from './worker/checksum.ts';

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
