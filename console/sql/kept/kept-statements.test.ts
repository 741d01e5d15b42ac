import { describe, expect, it } from 'vitest';
import {
  exportedHistory,
  type HistoryEntry,
  mergedEntries,
  mostEntries,
  parseHistory,
  searchEntries,
  withEntry,
} from './history.ts';
import { exportedStatements, parseStatements } from './saved-statements.ts';

const entry = (sql: string, at = 0): HistoryEntry => ({ at, sql, engine: 'local', ms: 1, rows: 1, outcome: 'rows' });

describe('the history', () => {
  it('keeps the last 500, the newest first', () => {
    let entries: readonly HistoryEntry[] = [];
    for (let at = 0; at < mostEntries + 5; at++) entries = withEntry(entries, entry(`select ${at}`, at));
    expect(entries).toHaveLength(mostEntries);
    expect([entries[0]?.at, entries.at(-1)?.at]).toEqual([504, 5]);
  });

  it('has a statement that is repeated once, at its last time', () => {
    expect(withEntry([entry('select 1', 1)], entry('select 1', 2))).toEqual([entry('select 1', 2)]);
  });

  it('is searched by words in any order and case', () => {
    const entries = [entry('SELECT price FROM trades'), entry('select 1')];
    expect(searchEntries(entries, 'TRADES sel')).toEqual([entries[0]]);
    expect(searchEntries(entries, ' ')).toEqual(entries);
  });
});

describe('a file of a history', () => {
  it('is read as it was written, and joined with what is there', () => {
    const there = [entry('select 2', 2), entry('select 1', 1)];
    const read = parseHistory(exportedHistory([entry('select 3', 3), entry('select 1', 1)]));
    expect(mergedEntries(there, read).map(({ sql }) => sql)).toEqual(['select 3', 'select 2', 'select 1']);
  });

  it('is read without what is no entry, and is refused where it is another one', () => {
    const strange = { ...entry('select 1'), at: 1e300 };
    expect(parseHistory(JSON.stringify({ kind: 'framehold-history', entries: [strange, 7, {}] }))).toEqual([]);
    expect(() => parseHistory(exportedStatements([]))).toThrow(/not a file with statements/);
  });
});

describe('a file of saved statements', () => {
  const statements = [{ name: 'a', sql: 'select 1;\n-- "x"', engine: 'spark' }];

  it('is read as it was written', () => {
    expect(parseStatements(exportedStatements(statements))).toEqual(statements);
  });

  it('may lack what is not known, and is refused where it is another one', () => {
    expect(
      parseStatements('{"kind":"framehold-statements","statements":[{"name":"b","sql":"x"},{"name":""},7]}'),
    ).toEqual([{ name: 'b', sql: 'x', engine: 'local' }]);
    expect(() => parseStatements('[]')).toThrow(/not a file with statements/);
    expect(() => parseStatements('x')).toThrow(/not JSON/);
  });
});
