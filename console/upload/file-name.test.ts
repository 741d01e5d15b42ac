import { expect, test } from 'vitest';
import { formatOfName } from '../../src/core/rows/file-format.ts';
import { handleFault, handleForFile, isPacked } from './file-name.ts';

test.each([
  ['trades.csv', 'trades'],
  ['trades.csv.gz', 'trades'],
  ['Trades 2024 (final).PARQUET', 'Trades_2024_final'],
  ['prix à Zürich.tsv', 'prix_a_Zurich'],
  ['日本.csv', 'upload'],
  ['<img src=x onerror=alert(1)>.json', 'img_src_x_onerror_alert_1'],
  ['.hidden.csv', 'hidden'],
  ['v1.2', 'v1.2'],
  ['notes.txt', 'notes'],
  ['', 'upload'],
])('the handle for %j is %s, and is valid', (fileName, handle) => {
  expect(handleForFile(fileName)).toBe(handle);
  expect(handleFault(handle)).toBeUndefined();
});

test('a handle has the prefix of the token, once, and is not too long', () => {
  expect(handleForFile('trades.csv', 'ci.')).toBe('ci.trades');
  expect(handleForFile('ci.trades.csv', 'ci.')).toBe('ci.trades');
  expect(handleFault(handleForFile(`${'x'.repeat(300)}.csv`, 'ci.'))).toBeUndefined();
});

test('the format is told by the ending, before that of the archive', () => {
  expect(formatOfName('x.jsonl.zst')).toBe('ndjson');
  expect(formatOfName('x.constructor')).toBeUndefined();
  expect([isPacked('x.csv.gz'), isPacked('x.csv')]).toEqual([true, false]);
});

test('what is no handle is told why', () => {
  expect(handleFault('')).toBe('The frame needs a name.');
  expect(handleFault('-x')).toContain('does not begin with');
  expect(handleFault('x'.repeat(129))).toContain('at most 128');
});
