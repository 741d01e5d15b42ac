import { expect, it } from 'vitest';
import { linkedStatement } from './sql-link.ts';

it.each([
  ['q=select+1', { sql: 'select 1', engine: 'local', isToRun: false, parameters: {} }],
  ['q=select+1&engine=spark', { sql: 'select 1', engine: 'spark', isToRun: false, parameters: {} }],
  ['q=select+1&run=1', { sql: 'select 1', engine: 'local', isToRun: true, parameters: {} }],
  ['q=select+1&engine=local&run=1', { sql: 'select 1', engine: 'local', isToRun: true, parameters: {} }],
  ['q=drop+table+x&engine=tsdb&run=1', { sql: 'drop table x', engine: 'tsdb', isToRun: false, parameters: {} }],
  ['q=select+1&engine=spark&run=1', { sql: 'select 1', engine: 'spark', isToRun: false, parameters: {} }],
  ['q=select+1&engine=auto&run=1', { sql: 'select 1', engine: 'auto', isToRun: false, parameters: {} }],
  ['q=select+1&plot=%7B%7D', { sql: 'select 1', engine: 'local', isToRun: false, plot: '{}', parameters: {} }],
  [
    'q=select+$a&params=%7B"a"%3A%7B"type"%3A"date"%2C"text"%3A"x"%7D%2C"b"%3A7%7D',
    { sql: 'select $a', engine: 'local', isToRun: false, parameters: { a: { type: 'date', text: 'x' } } },
  ],
  ['q=select+$a&params=%7B', { sql: 'select $a', engine: 'local', isToRun: false, parameters: {} }],
  ['q=+', undefined],
  ['engine=local&run=1', undefined],
])('a link with %s', (query, statement) => {
  expect(linkedStatement(new URLSearchParams(query))).toEqual(statement);
});
