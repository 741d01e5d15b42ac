import { describe, expect, it } from 'vitest';
import { formatsOf, resultExportPath } from './result-export.ts';

describe('the file of a result', () => {
  const from = { sql: 'select 1 -- a&b', engine: 'local' };

  it('is that of its statement', () => {
    expect(resultExportPath({ from, format: 'parquet', escapeFormulas: true })).toBe(
      '/exp?query=select+1+--+a%26b&engine=local&fmt=parquet&filename=result',
    );
  });

  it('is that of the frame where all rows are kept', () => {
    expect(resultExportPath({ from: { handle: 'r' }, format: 'csv', escapeFormulas: true })).toBe(
      '/exp?handle=r&fmt=csv&escapeFormulas=true',
    );
  });

  it('has no link where the statement is too long for one', () => {
    const long = { sql: `select '${'x'.repeat(20_000)}'`, engine: 'local' };
    expect(resultExportPath({ from: long, format: 'csv', escapeFormulas: true })).toBeUndefined();
  });

  it('is written by the external database in its own formats', () => {
    expect(formatsOf('tsdb', ['parquet', 'csv', 'tsv'])).toEqual(['parquet', 'csv']);
    expect(formatsOf('spark', ['parquet', 'csv', 'tsv'])).toEqual(['parquet', 'csv', 'tsv']);
  });
});
