import { describe, expect, it } from 'vitest';
import { exportPath, formatsOf } from './export-path.ts';

const asParquet = { format: 'parquet', escapeFormulas: true } as const;
const asCsv = { format: 'csv', escapeFormulas: true } as const;

const queryOf = (path: string | undefined): URLSearchParams => new URL(path ?? '', 'http://a').searchParams;

describe('the file of a frame', () => {
  it('has no limit where it is whole, so that its own file can be sent', () => {
    expect(exportPath({ handle: 'trades' }, asParquet)).toBe('/exp?handle=trades&fmt=parquet');
  });

  it('has the rows 11 to 20, which are those after the first 10', () => {
    const query = queryOf(exportPath({ handle: 'trades', rows: { from: 10, to: 20 } }, asCsv));
    expect(query.get('limit')).toBe('10,20');
    expect(query.get('escapeFormulas')).toBe('true');
  });

  it('has columns of any name, also of a frame that another tenant shares', () => {
    const query = queryOf(exportPath({ handle: 'desk/trades', columns: ['a,b', 'c&d'] }, asParquet));
    expect(query.get('cols')).toBe('"a,b",c&d');
  });

  it('has no link where the names of its columns are too long for one', () => {
    const columns = Array.from({ length: 2000 }, (_, at) => `column_${at}`);
    expect(exportPath({ handle: 'trades', columns }, asCsv)).toBeUndefined();
  });
});

describe('the file of a statement', () => {
  it('names the statement and its engine', () => {
    expect(exportPath({ sql: 'select 1 -- a&b', engine: 'local' }, asParquet)).toBe(
      '/exp?query=select+1+--+a%26b&engine=local&fmt=parquet&filename=result',
    );
  });

  it('has no link where the statement is too long for one', () => {
    const long = { sql: `select '${'x'.repeat(20_000)}'`, engine: 'local' };
    expect(exportPath(long, asCsv)).toBeUndefined();
  });

  it('is written by the external database in its own formats, without escapes', () => {
    const ofTsdb = { sql: 'trades', engine: 'tsdb' };
    expect(formatsOf(ofTsdb)).toEqual(['parquet', 'csv']);
    expect(queryOf(exportPath(ofTsdb, asCsv)).has('escapeFormulas')).toBe(false);
    expect(formatsOf({ sql: 'select 1', engine: 'spark' })).toContain('tsv');
  });
});
