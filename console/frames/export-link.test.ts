import { expect, it } from 'vitest';
import { exportPath } from './export-link.ts';

const whole = { handle: 'trades', format: 'parquet', columns: [], rows: undefined, escapeFormulas: true } as const;

it('a whole frame has no limit, so that its own file can be sent', () => {
  expect(exportPath(whole)).toBe('/exp?handle=trades&fmt=parquet');
});

it('rows 11 to 20 are those after the first 10', () => {
  const query = new URL(exportPath({ ...whole, format: 'csv', rows: { from: 10, to: 20 } }), 'http://a').searchParams;
  expect(query.get('limit')).toBe('10,20');
  expect(query.get('escapeFormulas')).toBe('true');
});

it('columns of any name, of a frame that another tenant shares', () => {
  const path = exportPath({ ...whole, handle: 'desk/trades', columns: ['a,b', 'c&d'] });
  const query = new URL(path, 'http://a').searchParams;
  expect(query.get('cols')).toBe('"a,b",c&d');
});
