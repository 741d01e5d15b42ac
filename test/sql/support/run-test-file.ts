import { Refused, type SqlDoor } from './sql-door.ts';
import type { Sort, SqlRecord, TestFile } from './test-file.ts';

/** Sends the records of a file in their order. Gives what was otherwise than the file says, each with its place. */
export async function runTestFile(file: TestFile, door: SqlDoor): Promise<string[]> {
  const differences: string[] = [];
  for (const record of file.records) {
    if (!record.isFor(door.engine)) continue;
    const difference = await differenceOf(record, door);
    if (difference === undefined) continue;
    differences.push(`test/sql/${file.path}.test:${record.line} on ${door.engine}\n${record.sql}\n${difference}`);
    // What follows needs what this would have made.
    if (record.kind === 'ok') break;
  }
  return differences;
}

async function differenceOf(record: SqlRecord, door: SqlDoor): Promise<string | undefined> {
  try {
    if (record.kind === 'query') return rowsDifference(record, await door.query(record.sql, record.parameters));
    await door.run(record.sql, record.parameters);
    return record.kind === 'ok' ? undefined : 'is not refused';
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const isExpected = record.kind === 'error' && includes(error.message, record.message);
    return isExpected ? undefined : `is refused: ${error.message}`;
  }
}

/** In whichever case: some engines begin an error with a capital letter. */
function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

type Query = Extract<SqlRecord, { kind: 'query' }>;

function rowsDifference({ letters, sort, expected }: Query, rows: readonly (readonly string[])[]): string | undefined {
  const found = rows.map((row) => row.map(cellText));
  const [wanted, given] = [sorted(expected, sort), sorted(found, sort)];
  const letterAt = (at: number): string | undefined => (sort === 'valuesort' ? 'T' : letters[at]);
  const isSame =
    wanted.length === given.length &&
    wanted.every((row, index) => {
      const other = given[index] ?? [];
      return row.length === other.length && row.every((cell, at) => isSameCell(cell, other[at] ?? '', letterAt(at)));
    });
  if (isSame) return undefined;
  return `gives\n${lines(given)}\ninstead of\n${lines(wanted)}`;
}

/** As it stands in a file. */
export function cellText(value: string): string {
  return value === '' ? '(empty)' : value.replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}

function sorted(rows: readonly (readonly string[])[], sort: Sort): readonly (readonly string[])[] {
  switch (sort) {
    case 'nosort':
      return rows;
    case 'rowsort':
      return [...rows].sort((a, b) => (a.join('\t') < b.join('\t') ? -1 : 1));
    case 'valuesort':
      return rows
        .flat()
        .sort()
        .map((value) => [value]);
    default:
      return sort satisfies never;
  }
}

function isSameCell(wanted: string, given: string, letter: string | undefined): boolean {
  if (wanted === given) return true;
  const [a, b] = [Number(wanted), Number(given)];
  return letter === 'R' && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function lines(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.join('\t')).join('\n');
}
