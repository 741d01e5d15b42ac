import { expect, test } from 'vitest';
import { queryFault } from './tsdb-query.ts';

test.each([
  'select 1',
  'SELECT * FROM trades SAMPLE BY 1m',
  " select 'a;b -- c /* d */ read_parquet' from t",
  'select "a;b" from "odd name"',
  'select \'it\'\'s\', "a""b" from t',
  '(select 1) union all (select 2)',
  'with x as (select 1) select * from x',
  'declare @a := 1 select @a',
  'select insert_time, updated from t',
  'select ts\nfrom t\twhere a in (1, 2)',
])('%s is one query', (text) => {
  expect(queryFault(text)).toBeUndefined();
});

test.each([
  ['', 'does not begin'],
  ['trades', 'does not begin'],
  ['selectx', 'does not begin'],
  ['explain select 1', 'does not begin'],
  ['drop table t', 'does not begin'],
  ['select 1; drop table t', 'semicolon'],
  ['select 1 -- x', 'comment'],
  ['select 1 /* x', 'comment'],
  ['select 1 */', 'comment'],
  ["select 'a", 'quote'],
  ['select "a', 'quote'],
  ["select 'a' ' ; drop table t", 'quote'],
  ['select 1) union (select 2', 'parentheses'],
  ['select (1', 'parentheses'],
  ['select 1\0', 'control character'],
  ['with x as (select 1) insert into t select * from x', 'changes'],
  ['with x as (select 1) update t set a = 1', 'changes'],
  ["select * from READ_PARQUET('x')", 'read_parquet'],
  ['select * from "read_parquet"(\'x\')', 'read_parquet'],
  ['select * from query_activity', 'query_activity'],
  ['select * from pg_catalog.pg_class', 'pg_catalog.pg_class'],
  ['select * from "information_schema.columns"()', 'information_schema.columns'],
  ['select * from "sys.acl"', 'sys.acl'],
])('%s is refused: %s', (text, problem) => {
  expect(queryFault(text)?.problem).toContain(problem);
});
