import { expect, test } from 'vitest';
import { Multipart } from './multipart.ts';
import { boundaryOf } from './multipart-head.ts';

async function* cut(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function partsOf(text: string, size: number): Promise<Record<string, unknown>[]> {
  const parts: Record<string, unknown>[] = [];
  for await (const { body, ...head } of new Multipart(cut(text, size), 'XX').parts()) {
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    parts.push({ ...head, body: Buffer.concat(pieces).toString('latin1') });
  }
  return parts;
}

const form = [
  'this is for people',
  '--XX',
  'Content-Disposition: form-data; name="schema"',
  '',
  '[]',
  '--XX \t',
  'content-disposition: form-data; name="data"; filename="a \\"b\\".csv"',
  'Content-Type: text/csv',
  'Content-Encoding: gzip',
  '',
  'a,b\r\n--X\r\n--\r\n\r\n--XY-',
  '',
  '--XX--',
  'and so is this',
].join('\r\n');

test('parts come out as they went in, however the form is cut', async () => {
  for (const size of [1, 2, 3, 5, 7, 11, 64, 10_000]) {
    expect(await partsOf(form, size)).toEqual([
      { name: 'schema', fileName: undefined, contentType: undefined, contentEncoding: undefined, body: '[]' },
      {
        name: 'data',
        fileName: 'a "b".csv',
        contentType: 'text/csv',
        contentEncoding: 'gzip',
        body: 'a,b\r\n--X\r\n--\r\n\r\n--XY-\r\n',
      },
    ]);
  }
});

test.each([
  ['nothing at all', '', 'ends before its closing boundary'],
  ['no boundary', 'a,b\r\n1,2\r\n', 'ends before its closing boundary'],
  ['an end in the head', '--XX\r\nContent-Disposition: form-data; na', 'ends before its closing boundary'],
  ['an end in the part', '--XX\r\nContent-Disposition: form-data; name=data\r\n\r\na,b\r\n', 'ends before its closing'],
  ['half a closing boundary', '--XX\r\nContent-Disposition: form-data; name=data\r\n\r\na\r\n--XX-', 'ends before'],
  ['a longer boundary', '--XXY\r\n\r\n', 'followed by something else'],
  ['a part without a name', '--XX\r\nContent-Type: text/csv\r\n\r\na\r\n--XX--', 'has no name'],
  ['a head without end', `--XX\r\nX: ${'x'.repeat(20_000)}`, 'longer than 16384 bytes'],
  ['heads without end', `--XX\r\n${'X: y\r\n'.repeat(9000)}`, 'longer than 16384 bytes'],
])('a form with %s is refused', async (_, text, words) => {
  for (const size of [1, 10_000]) {
    await expect(partsOf(text, size)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words),
    });
  }
});

test('a part in base64 is refused', async () => {
  const text =
    '--XX\r\nContent-Disposition: form-data; name=data\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--XX--';
  await expect(partsOf(text, 100)).rejects.toMatchObject({ code: 'unsupported_format' });
});

test('the boundary is read with or without quotes', () => {
  expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
  expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b:c"')).toBe('a b:c');
  expect(boundaryOf('text/csv')).toBeUndefined();
  expect(boundaryOf(undefined)).toBeUndefined();
  expect(() => boundaryOf('multipart/form-data')).toThrow('names no boundary');
  expect(() => boundaryOf(`multipart/form-data; boundary=${'x'.repeat(71)}`)).toThrow('names no boundary');
  expect(() => boundaryOf('multipart/mixed; boundary=abc')).toThrow('multipart/mixed cannot be read');
});
