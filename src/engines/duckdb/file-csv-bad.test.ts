import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports } from '../../../test/support/file-imports.ts';
import type { CsvOptions, TextOptions } from '../../core/rows/frame-engine.ts';

let files: FileImports;
beforeAll(async () => {
  files = await FileImports.open();
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

const csv = (content: string | Uint8Array, options: Partial<CsvOptions & TextOptions> = {}) =>
  files.import(content, { kind: 'csv', skipsBadRows: false, ...options });

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const badRows: readonly (readonly [string, string | Uint8Array, number, string])[] = [
  ['too few values', 'a,b\n1,2\n"x\ny",3\n4\n5,6\n', 5, 'it has 1 value where there are 2 columns'],
  ['too many values', 'a,b\n1,2\n3,4,5\n5,6\n', 3, 'it has 3 values where there are 2 columns'],
  ['a quote that is not closed', 'a,b\n1,2\n3,"4\n5,6\n', 3, 'a quote that is not closed'],
  ['text behind a closing quote', 'a,b\r\n1,"2"x\r\n5,6\r\n', 2, 'text follows the closing quote'],
  ['bytes that are not UTF-8', latin1('a,b\n1,caf\xe9\n5,6\n'), 2, 'it is not UTF-8 (perhaps Latin-1'],
  ['a NUL byte', 'a,b\n1,x\0y\n5,6\n', 2, 'it holds a NUL byte'],
  ['blanks alone', 'a,b\n1,2\n  \n5,6\n', 3, 'it has 1 value where'],
];

describe('a bad row', () => {
  test.each(badRows)('with %s is refused by its line', async (_, content, line, reason) => {
    await expect(csv(content)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(new RegExp(`^line ${line}: .*`)),
    });
    await expect(csv(content)).rejects.toThrow(reason);
  });

  test.each(badRows)('with %s is left out and reported', async (_, content, line, reason) => {
    const { part, rows } = await csv(content, { skipsBadRows: true });
    expect(part.report).toMatchObject({
      rejectedRows: 1,
      rejections: [{ line, reason: expect.stringContaining(reason) }],
    });
    expect(rows.at(-1)?.map(String)).toEqual(['5', '6']);
  });

  test('among many is told, but not more than twenty of them', async () => {
    const content = `a,b\n${Array.from({ length: 1000 }, (_, n) => (n % 10 === 0 ? `${n}` : `${n},1`)).join('\n')}\n`;
    const { part } = await csv(content, { skipsBadRows: true });
    expect(part.rows).toBe(900);
    expect(part.report?.rejectedRows).toBe(100);
    expect(part.report?.rejections.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, n) => 10 * n + 2));
  });

  test('for its form and one for its value are reported in the order of their lines', async () => {
    const types = new Map([['a', { type: { kind: 'int', bits: 32, signed: true } }]] as const);
    const content = 'a,b\n1,"x\ny"\n2,z\nabc,w\n4,5\n1.5,q\nbad\n';
    const { part, rows } = await csv(content, { skipsBadRows: true, types });
    expect(rows).toEqual([
      [1, 'x\ny'],
      [2, 'z'],
      [4, '5'],
    ]);
    expect(part.report).toMatchObject({
      rejectedRows: 3,
      rejections: [
        { line: 5, column: 'a', reason: '"abc" is not of the type INTEGER' },
        { line: 7, column: 'a', reason: '"1.5" is not of the type INTEGER' },
        { line: 8, reason: 'it has 1 value where there are 2 columns' },
      ],
    });
  });

  test('does not take part in finding types', async () => {
    expect((await csv('a,b\n1,2\nx\n3,4\n', { skipsBadRows: true })).types).toEqual(['BIGINT', 'BIGINT']);
  });
});

describe('what is no CSV at all is refused in plain words', () => {
  test.each([
    ['nothing', '', 'the file is empty'],
    ['lines of nothing', '\n\r\n\n', 'the file is empty'],
    ['a byte order mark alone', '\ufeff', 'the file is empty'],
    ['UTF-16', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'), 'the file is not UTF-8: it looks like UTF-16'],
    ['UTF-16 without a mark', Buffer.from('a,b,c,d,e\n1,2', 'utf16le'), 'it looks like UTF-16'],
    ['a header in Latin-1', latin1('caf\xe9,b\n1,2\n'), 'line 1: it is not UTF-8'],
    ['a spreadsheet', latin1('PK\x03\x04\x14\x00'), 'it looks like a ZIP archive or a spreadsheet'],
    ['gzip', latin1('\x1f\x8b\x08\x00'), 'it looks like compressed with gzip'],
    ['binary data', Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)), 'it looks like binary data'],
    ['a header that never ends', '"a,b\n1,2\n', 'line 1: a value begins with a quote that is not closed'],
  ])('%s', async (_, content, words) => {
    for (const skipsBadRows of [false, true]) {
      const error = await csv(content, { skipsBadRows }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(words) });
      expect((error as Error).message).not.toContain(files.directory.path);
    }
  });
});

describe('large things', () => {
  test('a value of 20 MB is read', async () => {
    const { part, rows } = await csv(`a,b\n1,${'x'.repeat(20_000_000)}\n2,y\n`);
    expect(part.rows).toBe(2);
    expect(rows[0]?.[1]).toHaveLength(20_000_000);
  });

  test('a line of more than 64 MB is refused', async () => {
    await expect(csv(`a,b\n1,${'x'.repeat(70_000_000)}\n`)).rejects.toMatchObject({ code: 'too_large' });
  });

  const wide = (columns: number): string => {
    const numbers = Array.from({ length: columns }, (_, n) => n);
    return `${numbers.map((n) => `n${n}`).join(',')}\n${numbers.join(',')}\n`;
  };

  test('a thousand columns are read', async () => {
    const { part } = await csv(wide(1000));
    expect(part.rows).toBe(1);
    expect(part.columns.at(-1)).toMatchObject({ name: 'n999', type: { kind: 'int' } });
  });

  test('10,000 columns are refused', async () => {
    await expect(csv(wide(10_000))).rejects.toMatchObject({
      code: 'too_large',
      message: 'the file has 10000 columns; text of at most 4096 columns can be read',
    });
  });
});

test('nothing is left behind, neither by a file that was mended nor by one that was refused', async () => {
  await using own = await FileImports.open();
  await own.put('a,b\n1,2\n3\n', { kind: 'csv', skipsBadRows: true });
  await expect(own.put('a,b\n1,2\n3\n', { kind: 'csv', skipsBadRows: false })).rejects.toThrow('line 3');
  const names = await readdir(own.directory.path, { recursive: true });
  expect(names.filter((name) => name.includes('import') || name === 'part-2.parquet')).toEqual([]);
});

test('an import that is cancelled stops and leaves nothing', async () => {
  const abort = new AbortController();
  const content = `a,b\n${'1,2\n'.repeat(5_000_000)}`;
  const imported = files.put(content, { kind: 'csv', skipsBadRows: false }, { signal: abort.signal });
  abort.abort();
  await expect(imported).rejects.toMatchObject({ name: 'AbortError' });
  expect((await csv('a\n1\n')).rows).toEqual([[1]]);
});
