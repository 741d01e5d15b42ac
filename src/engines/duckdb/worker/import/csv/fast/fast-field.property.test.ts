import { type DataType, sqlString } from '@framehold/columns';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  anyTexts,
  booleanTexts,
  dateTexts,
  decimalTexts,
  integerTexts,
  timestampTexts,
} from '../../../../../../../test/support/arbitrary-csv.ts';
import { duckDbConnection } from '../../../../../../../test/support/duckdb-connection.ts';
import { flatValue } from '../../../../../../../test/support/flat-value.ts';
import { valueOfType } from '../../text/text-conversion.ts';
import { type TextKind, valueOfKind } from '../../text/text-kind.ts';
import { FastColumn, fieldEnds } from './fast-column.ts';
import { fastField, type PlannedField } from './fast-field.ts';

const connection = duckDbConnection();

/** The value that is read of a text; undefined where it is left to DuckDB. */
function fastValue(type: PlannedField['type'], text: string): unknown {
  const field = fastField({ name: 'a', index: 0, type });
  if (field === undefined) throw new Error('no such field');
  const column = new FastColumn(field, fieldEnds(','.charCodeAt(0)));
  const bytes = Buffer.from(`${text}\n${'0'.repeat(64)}`);
  const end = column.read(column, bytes, 0, 0);
  return end === Buffer.byteLength(text) ? flatValue(column.take(1), 0) : undefined;
}

async function valuesByDuckDb(value: string, texts: readonly string[]): Promise<unknown[]> {
  await using result = await connection.query(
    `SELECT ${value} FROM (SELECT unnest([${texts.map(sqlString).join(', ')}]) AS text)`,
  );
  const values: unknown[] = [];
  for await (const { rows, vectors } of result.batches()) {
    for (const vector of vectors) for (let row = 0; row < rows; row++) values.push(flatValue(vector, row));
  }
  return values;
}

const runs = 5;
const textsOfRun = 200;

/** Texts that are not left to DuckDB are read as DuckDB reads them. Less than `leastShare` of texts would show little. */
async function expectSameValues(
  type: PlannedField['type'],
  value: string,
  texts: fc.Arbitrary<string>,
  leastShare: number,
): Promise<void> {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: textsOfRun, maxLength: textsOfRun }), async (all) => {
      const found = all
        .filter((text) => text !== '')
        .map((text) => ({ text, value: fastValue(type, text) }))
        .filter((one) => one.value !== undefined);
      const values = await valuesByDuckDb(
        value,
        found.map((one) => one.text),
      );
      expect(found).toEqual(found.map(({ text }, index) => ({ text, value: values[index] })));
      read += found.length;
    }),
    { numRuns: runs },
  );
  expect(read / (runs * textsOfRun)).toBeGreaterThan(leastShare);
}

const named: readonly (readonly [string, DataType, fc.Arbitrary<string>])[] = [
  ['BIGINT', { kind: 'int', bits: 64, signed: true }, integerTexts],
  ['INTEGER', { kind: 'int', bits: 32, signed: true }, integerTexts],
  ['SMALLINT', { kind: 'int', bits: 16, signed: true }, integerTexts],
  ['TINYINT', { kind: 'int', bits: 8, signed: true }, integerTexts],
  ['DOUBLE', { kind: 'float', bits: 64 }, decimalTexts],
  ['DATE', { kind: 'date' }, dateTexts],
  ['TIMESTAMP', { kind: 'timestamp', unit: 'us', zoned: false }, timestampTexts],
  ['TIMESTAMPTZ', { kind: 'timestamp', unit: 'us', zoned: true }, timestampTexts],
  ['BOOLEAN', { kind: 'boolean' }, booleanTexts],
  ['VARCHAR', { kind: 'utf8' }, anyTexts.filter((text) => !/[",\r\n]/.test(text))],
];

test.each(named)('what is read as a named %s is what DuckDB reads', async (_, type, texts) => {
  await expectSameValues({ given: { type } }, valueOfType({ type }, 'text'), texts, 0.1);
});

const seen: readonly (readonly [TextKind, fc.Arbitrary<string>])[] = [
  ['bigint', integerTexts],
  ['double', decimalTexts],
  ['date', dateTexts],
  ['timestamp', timestampTexts],
  ['timestampTz', timestampTexts],
  ['boolean', booleanTexts],
];

test.each(seen)('what is read as a %s that was seen is what DuckDB reads', async (kind, texts) => {
  await expectSameValues({ seen: kind }, valueOfKind(kind, 'text', true), texts, 0.05);
});
