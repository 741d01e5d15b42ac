import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResultStream } from './result-stream.ts';

const columns = [
  { name: 'long', type: 'LONG' },
  { name: 'text', type: 'VARCHAR' },
  { name: 'double', type: 'DOUBLE' },
  { name: 'list', type: 'ARRAY', dim: 1, elemType: 'LONG' },
  { name: 'json', type: 'JSON' },
] as const;

/** JSON with bigints as numbers of all their digits. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}:${textOf(each)}`)
    .join(',')}}`;
}

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number): Promise<{ rows: unknown[]; stream: ResultStream }> {
  const stream = await ResultStream.open(inPieces(text, size));
  const rows: unknown[] = [];
  for await (const batch of stream.batches()) rows.push(...batch);
  return { rows, stream };
}

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
/** Also texts like the key of the rows, or like a number. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"dataset":[', '[1234567890123456789,', '\\', '\\"', '}]', '\0'),
);
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const inJson = fc.oneof(
  text,
  double.filter((value) => !Number.isInteger(value)),
  fc.maxSafeInteger(),
  long.filter((value) => !Number.isSafeInteger(Number(value))),
);
const nullable = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null });
const row = fc.tuple(
  ...[nullable(long), nullable(text), nullable(double), nullable(fc.array(nullable(long)))],
  nullable(fc.oneof(inJson, fc.dictionary(text, fc.oneof(inJson, fc.array(inJson))))),
);

describe('rows in the shape of /exec', () => {
  it('are read as they are, with every digit, however they are cut in pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 8 }),
        text,
        fc.integer({ min: 1, max: 200 }),
        async (rows, query, size) => {
          const head = `{"query":${JSON.stringify(query)},"columns":${JSON.stringify(columns)},"timestamp":-1,"dataset":`;
          const { rows: found, stream } = await read(`${head}${textOf(rows)},"count":${rows.length}}`, size);
          expect(found).toEqual(rows);
          expect(stream.facts).toMatchObject({ query, count: rows.length });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that end early are told', async () => {
    const whole = '{"columns":[{"name":"a","type":"INT"}],"dataset":[[1],[2]],"count":2}';
    for (let end = 1; end < whole.length; end++) await expect(read(whole.slice(0, end), 7)).rejects.toThrow();
    expect((await read(whole, 7)).rows).toEqual([[1], [2]]);
  });

  it('may be missing, and come once', async () => {
    const { rows, stream } = await read('{"dml":"OK","updated":3}', 5);
    expect([rows, stream.facts.updated]).toEqual([[], 3]);
    await expect(stream.batches().next()).rejects.toThrow('read before');
  });
});
