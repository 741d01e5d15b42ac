import { expect, it } from 'vitest';
import { linkedStatement } from './sql-link.ts';

it.each([
  ['q=select+1', { sql: 'select 1', engine: 'local', isToRun: false }],
  ['q=select+1&engine=spark', { sql: 'select 1', engine: 'spark', isToRun: false }],
  ['q=select+1&run=1', { sql: 'select 1', engine: 'local', isToRun: true }],
  ['q=select+1&engine=local&run=1', { sql: 'select 1', engine: 'local', isToRun: true }],
  ['q=drop+table+x&engine=tsdb&run=1', { sql: 'drop table x', engine: 'tsdb', isToRun: false }],
  ['q=select+1&engine=spark&run=1', { sql: 'select 1', engine: 'spark', isToRun: false }],
  ['q=select+1&engine=auto&run=1', { sql: 'select 1', engine: 'auto', isToRun: false }],
  ['q=select+1&plot=%7B%7D', { sql: 'select 1', engine: 'local', isToRun: false, plot: '{}' }],
  ['q=+', undefined],
  ['engine=local&run=1', undefined],
])('a link with %s', (query, statement) => {
  expect(linkedStatement(new URLSearchParams(query))).toEqual(statement);
});
