import { atOnce } from '@framehold/async';
import { type Batch, type Column, type DataType, sqlTypeName } from '@framehold/columns';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  anyTexts,
  booleanTexts,
  dateTexts,
  decimalTexts,
  integerTexts,
  timestampTexts,
} from '../../../test/support/arbitrary-csv.ts';
import { rowsOf, TextImports } from '../../../test/support/text-imports.ts';
import { csvBatch } from '../csv/csv-batch.ts';
import { jsonBatch } from './json-batch.ts';

/** Raise it by hand for a longer hunt: TEXT_BATCH_RUNS=100000 npx vitest run text-batch. */
const runs = Number(process.env.TEXT_BATCH_RUNS ?? 300);

let imports: TextImports;
beforeAll(async () => {
  imports = await TextImports.open();
});
afterAll(async () => {
  await imports[Symbol.asyncDispose]();
});

const int = (bits: 8 | 16 | 32 | 64, signed = true): DataType => ({ kind: 'int', bits, signed });
const smallTexts = fc.integer({ min: -300, max: 300 }).map(String);
const timeTexts = timestampTexts.map((text) => text.slice(11));
const nanoTexts = fc.oneof(
  timestampTexts,
  fc
    .tuple(fc.integer({ min: -9_300_000_000_000, max: 9_300_000_000_000 }), fc.integer({ min: 0, max: 999_999 }))
    .map(([ms, nanos]) => new Date(ms).toISOString().replace('Z', `${String(nanos).padStart(6, '0')}Z`)),
);
const fixedTexts = fc
  .tuple(fc.integer(), fc.integer({ min: 0, max: 5 }))
  .map(([value, places]) => (value / 10 ** places).toFixed(places));
const jsonTexts = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.replaceAll(',', ', ')),
  fc.constantFrom(
    '1e999',
    '12345678901234567890',
    '"\\ud800"',
    '{"a":1,"a":2}',
    '[1,]',
    'nul',
    '{"a":"\\n"}',
    ' 1',
    '01',
  ),
);
const uuids = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
  fc.uuid().map((text) => text.replaceAll('-', '')),
);

const cases: readonly (readonly [DataType, fc.Arbitrary<string>])[] = [
  [{ kind: 'boolean' }, booleanTexts],
  [int(8), fc.oneof(smallTexts, integerTexts)],
  [int(16), integerTexts],
  [int(32), integerTexts],
  [int(64), integerTexts],
  [int(8, false), fc.oneof(smallTexts, integerTexts)],
  [int(16, false), integerTexts],
  [int(32, false), integerTexts],
  [int(64, false), integerTexts],
  [{ kind: 'float', bits: 64 }, fc.oneof(decimalTexts, integerTexts)],
  [{ kind: 'float', bits: 32 }, fc.oneof(decimalTexts, fc.float().map(String), integerTexts)],
  [{ kind: 'decimal', precision: 4, scale: 2 }, fc.oneof(fixedTexts, decimalTexts)],
  [{ kind: 'decimal', precision: 18, scale: 3 }, fc.oneof(fixedTexts, decimalTexts)],
  [{ kind: 'decimal', precision: 38, scale: 0 }, fc.oneof(integerTexts, decimalTexts)],
  [{ kind: 'decimal', precision: 38, scale: 20 }, fc.oneof(integerTexts, decimalTexts)],
  [{ kind: 'utf8' }, fc.oneof(anyTexts, decimalTexts)],
  [{ kind: 'json' }, jsonTexts],
  [{ kind: 'uuid' }, uuids],
  [{ kind: 'date' }, dateTexts],
  [{ kind: 'time', unit: 'us' }, timeTexts],
  [{ kind: 'time', unit: 'ns' }, timeTexts],
  [{ kind: 'timestamp', unit: 'us', zoned: false }, timestampTexts],
  [{ kind: 'timestamp', unit: 'us', zoned: true }, timestampTexts],
  [{ kind: 'timestamp', unit: 'ns', zoned: false }, nanoTexts],
];

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const formats = {
  csv: {
    write: (rows: readonly string[]) => `id,v\n${rows.map((text, id) => `${id},${text}\n`).join('')}`,
    read: (content: string, columns: readonly Column[]): Batch | undefined =>
      atOnce(csvBatch(Buffer.from(content), { columns, delimiter: undefined, hasHeader: undefined }))?.batch,
    forms: (text: string) => [text, quoted(text)],
  },
  json: {
    write: (rows: readonly string[]) => rows.map((text, id) => `{"id":${id},"v":${text}}\n`).join(''),
    read: (content: string, columns: readonly Column[]): Batch | undefined =>
      atOnce(jsonBatch(Buffer.from(content), columns)),
    forms: (text: string) => [JSON.stringify(text), text],
  },
} as const;

describe.each(['csv', 'json'] as const)('what is read from %s is what the import keeps', (kind) => {
  const { write, read, forms } = formats[kind];
  test.each(cases.map(([type, texts]) => [sqlTypeName(type), type, texts] as const))('%s', async (_, type, texts) => {
    const columns = [
      { name: 'id', type: int(64) },
      { name: 'v', type },
    ];
    const taken = fc
      .sample(texts, runs)
      .flatMap(forms)
      .filter((text) => read(write([text]), columns) !== undefined);
    expect(taken.length).toBeGreaterThan(runs / 20);
    const content = write(taken);
    const batch = read(content, columns);
    const rows = rowsOf(batch as Batch);
    const expected = await imports.rows(kind, content, columns);
    const wrong = rows.flatMap((row, index) =>
      isEqual(row[1], expected[index]?.[1]) ? [] : [[taken[index], row[1], expected[index]?.[1]]],
    );
    expect(wrong).toEqual([]);
    expect(rows.length).toBe(expected.length);
  });
});

function isEqual(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}
