import { ByteSink } from '@framehold/columns';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeJsonString } from './json-string.ts';

/** The text between other bytes, as in a column. */
function written(text: string, before = '"', after = '\n\\'): string {
  const sink = new ByteSink();
  const data = Buffer.from(before + text + after);
  const start = Buffer.byteLength(before);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const end = writeJsonString(sink, 3, view, start, data.length - Buffer.byteLength(after));
  return Buffer.from(sink.bytes.subarray(3, end)).toString();
}

const wellFormed = fc.string({ unit: 'binary', maxLength: 40 });
const spiky = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\0', '\x1f', ' ', 'é', '€', '😀', '\x7f') });

test('a string is escaped as JSON.stringify escapes it', () => {
  const around = fc.constantFrom('', 'x', '"', '\n\n\n');
  fc.assert(
    fc.property(fc.oneof(wellFormed, spiky), around, around, (text, before, after) => {
      expect(written(text, before, after)).toBe(JSON.stringify(text));
    }),
    { numRuns: 2000 },
  );
});

test('only control characters, quotes and backslashes are escaped', () => {
  expect(written('\b\f\n\r\t"\\/\0\x1f\x7fé😀')).toBe('"\\b\\f\\n\\r\\t\\"\\\\/\\u0000\\u001f\x7fé😀"');
});

test('a string longer than the buffer is written whole', () => {
  const text = '\u0001ab"'.repeat(100_000);
  expect(written(text)).toBe(JSON.stringify(text));
});
