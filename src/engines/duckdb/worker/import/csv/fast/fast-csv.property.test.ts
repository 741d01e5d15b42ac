import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  anyTexts,
  booleanTexts,
  dateTexts,
  decimalTexts,
  integerTexts,
  timestampTexts,
} from '../../../../../../../test/support/arbitrary-csv.ts';
import { CsvBothWays, type CsvWishes } from '../../../../../../../test/support/csv-both-ways.ts';

let ways: CsvBothWays;
beforeAll(async () => {
  ways = await CsvBothWays.open();
});
afterAll(async () => {
  await ways[Symbol.asyncDispose]();
});

const usual = {
  integer: fc.integer().map(String),
  decimal: fc.integer().map((value) => String(value / 100)),
  date: fc.integer({ min: 0, max: 40_000 }).map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
  instant: fc.integer({ min: 0, max: 2e12 }).map((ms) => new Date(ms).toISOString()),
  boolean: fc.boolean().map(String),
  text: fc.string({ unit: 'grapheme', maxLength: 8 }),
  symbol: fc.constantFrom('BTC-USD', 'ETH-USD', ''),
  nothing: fc.constant(''),
};

interface Written {
  readonly text: string;
  readonly isQuoted: boolean;
}

const valuesOfColumns = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...Object.values(usual)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(anyTexts, booleanTexts, dateTexts, decimalTexts, integerTexts, timestampTexts),
  },
);
const columns = fc.array(valuesOfColumns, { minLength: 1, maxLength: 6 });

function rowsOf(values: readonly fc.Arbitrary<string>[]): fc.Arbitrary<Written[][]> {
  const field = (texts: fc.Arbitrary<string>): fc.Arbitrary<Written> =>
    fc.record({
      text: fc.oneof({ weight: 9, arbitrary: texts }, fc.constant('')),
      isQuoted: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    });
  return fc.array(fc.tuple(...values.map(field)), { minLength: 0, maxLength: 20 });
}

interface Dialect {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly mark: string;
  readonly endsLastLine: boolean;
}

const dialects: fc.Arbitrary<Dialect> = fc.record({
  delimiter: fc.constantFrom(',', ',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\n', '\n', '\r\n'),
  mark: fc.constantFrom('', '', '', '\ufeff'),
  endsLastLine: fc.boolean(),
});

function fileOf(rows: readonly (readonly Written[])[], dialect: Dialect): string {
  const { delimiter, lineEnd, mark, endsLastLine } = dialect;
  const field = ({ text, isQuoted }: Written): string => {
    const mustQuote = isQuoted || text.includes('"') || text.includes(delimiter) || /[\r\n]/.test(text);
    return mustQuote ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(field).join(delimiter));
  return mark + lines.join(lineEnd) + (endsLastLine ? lineEnd : '');
}

/** Whether a file is read without DuckDB; then it is read as DuckDB reads it. */
async function isReadAlike(content: string, wishes: CsvWishes): Promise<boolean> {
  const own = await ways.withoutDuckDb(content, wishes);
  if (own === undefined) return false;
  expect(own).toEqual(await ways.byDuckDb(content, wishes));
  return true;
}

test('what is read of a file without DuckDB is what DuckDB reads', async () => {
  const runs = 150;
  let fast = 0;
  await fc.assert(
    fc.asyncProperty(columns.chain(rowsOf), dialects, fc.boolean(), async (rows, dialect, hasHeader) => {
      const names = rows[0]?.map((_, index) => ({ text: `c${index}`, isQuoted: false })) ?? [
        { text: 'a', isQuoted: false },
      ];
      const content = fileOf(hasHeader || rows.length === 0 ? [names, ...rows] : rows, dialect);
      if (/^\ufeff?[\r\n]*$/.test(content)) return;
      const { delimiter } = dialect;
      if (await isReadAlike(content, { delimiter, hasHeader: hasHeader || rows.length === 0 })) fast++;
    }),
    { numRuns: runs },
  );
  expect(fast / runs).toBeGreaterThan(0.4);
}, 120_000);

test('and it is left to DuckDB where it is damaged, or is read alike', async () => {
  const damage = fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    put: fc.constantFrom(
      '"',
      '""',
      ',',
      '\n',
      '\r',
      '\r\n',
      ' ',
      ' "',
      '" ',
      '\ufeff',
      'é',
      '\\',
      '-',
      '.',
      '5',
      "'",
      '#',
    ),
    cut: fc.integer({ min: 0, max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(columns.chain(rowsOf), dialects, damage, async (rows, dialect, { place, put, cut }) => {
      const whole = fileOf(rows, dialect);
      const at = Math.floor(place * whole.length);
      const content = `${dialect.mark}${rows[0]?.map((_, index) => `c${index}`).join(dialect.delimiter)}${dialect.lineEnd}${whole.slice(0, at)}${put}${whole.slice(at + cut)}`;
      await isReadAlike(content, { delimiter: dialect.delimiter, hasHeader: true });
    }),
    { numRuns: 150 },
  );
}, 120_000);
