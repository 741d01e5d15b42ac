import type { Column } from '@framehold/columns';
import fc from 'fast-check';
import { anyKind, type Kind, kindInText } from './arbitrary-kinds.ts';
import { text } from './arbitrary-values.ts';

interface Contents {
  readonly columns: readonly Column[];
  /** As `vectorOf` takes them. */
  readonly rows: readonly (readonly unknown[])[];
}

export interface ArbitraryTable extends Contents {
  /** As a frame keeps it. */
  readonly kept: Contents;
}

/** Without a byte order mark in front, which apache-arrow does not show. */
const columnName = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'A', 'b', 'a', 'Straße', 'STRASSE', 'id_1', '1', 'true', 'select') },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'x,y', 'say "hi"', "it's", 'two\nlines', '🦆', 'c0', 'a_1', 'a:1') },
  { weight: 1, arbitrary: text.filter((name) => !name.startsWith('\ufeff')) },
);

/** 1 to 8 columns of any types under any names, 0 to 200 rows. */
export const anyTable = tableOf(anyKind);

/** The same, with values that come back from JSON. */
export const tableInJson = tableOf(kindInText);

/**
 * The same for CSV. Columns without a name get one. A line break in a name, other than those that end the lines, loses all rows
 * for now.
 */
export const tableInCsv = tableInJson.filter(({ columns }) => columns.every(({ name }) => /^[^\r\n]+$/.test(name)));

function tableOf(kind: fc.Arbitrary<Kind>): fc.Arbitrary<ArbitraryTable> {
  return fc.array(fc.tuple(columnName, kind), { minLength: 1, maxLength: 8 }).chain((columns) => {
    const row = fc.tuple(...columns.map(([, { value }]) => value));
    const rows = fc.oneof(
      { weight: 5, arbitrary: fc.array(row, { maxLength: 12 }) },
      { weight: 1, arbitrary: fc.array(row, { maxLength: 200, size: 'max' }) },
    );
    return rows.map((rows) => tableFrom(columns, rows));
  });
}

function tableFrom(columns: readonly (readonly [string, Kind])[], rows: Contents['rows']): ArbitraryTable {
  const kinds = columns.map(([, kind]) => kind);
  return {
    columns: columns.map(([name, { type }]) => ({ name, type })),
    rows,
    kept: {
      columns: columns.map(([name, { kept }]) => ({ name, type: kept })),
      rows: rows.map((row) => row.map((value, i) => (kinds[i] as Kind).keep(value))),
    },
  };
}
