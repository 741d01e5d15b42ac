import { describe, expect, it } from 'vitest';
import { boundParameters, noValue, type ParameterValues, valuesIn, WrongValue } from './parameter-value.ts';
import { statementParameters } from './statement-parameters.ts';

describe('the parameters of a statement', () => {
  it.each([
    ['select $day, $ids[1] + $DAY', ['$day', '$ids']],
    ['select ? + ?, $2', ['?1', '?2']],
    ['select $2, $1', ['$2', '$1']],
    [`select '$a', "?", $$ ? $b $$, $x$ ? $x$ -- ?\n, /* $c */ $d`, ['$d']],
    ['select a$b from t$1', []],
    ["select 'open ? ", []],
  ])('stand outside of texts, names and comments: %s', (sql, labels) => {
    expect(statementParameters(sql, 'duckdb').map(({ label }) => label)).toEqual(labels);
  });

  it('are named with a colon on a cluster, where others cast and look into values', () => {
    const sql = "select :day, a::int, raw:field, x[1:2], ?, `:no`, ':no', $no";
    expect(statementParameters(sql, 'spark').map(({ label }) => label)).toEqual([':day', '?1']);
  });
});

describe('the values that are sent', () => {
  const bound = (sql: string, values: ParameterValues) =>
    boundParameters(statementParameters(sql, 'duckdb'), (key) => values[key] ?? noValue);
  const one = (type: string, text: string) => bound('$a', valuesIn({ a: { type, text } }));

  it.each([
    ['auto', '10', 10],
    ['auto', '-1.5e3', -1500],
    ['auto', 'TRUE', true],
    ['auto', '007', '007'],
    ['auto', ' a ', ' a '],
    ['text', '10', '10'],
    ['text', '', ''],
    ['number', '9007199254740993', { type: 'HUGEINT', value: '9007199254740993' }],
    ['number', '-Infinity', { type: 'DOUBLE', value: '-Infinity' }],
    ['boolean', 'false', false],
    ['date', '2026-01-31', { type: 'DATE', value: '2026-01-31' }],
    ['timestamp', '2026-01-31 12:00', { type: 'TIMESTAMP', value: '2026-01-31 12:00' }],
    ['json', '[1,null]', [1, null]],
    ['null', 'left', null],
  ])('of type %s: %s', (type, text, sent) => {
    expect(one(type, text)).toEqual({ a: sent });
  });

  it.each([
    ['auto', ' ', '$a has no value'],
    ['number', '1,5', '$a is no number: 1,5'],
    ['boolean', '1', '$a is neither true nor false'],
    ['json', '[1', '$a is not JSON'],
  ])('are refused by the name of the parameter: %s %s', (type, text, message) => {
    expect(() => one(type, text)).toThrow(WrongValue);
    expect(() => one(type, text)).toThrow(message);
  });

  it('are an array where parameters have numbers, and nothing where there are none', () => {
    const values = valuesIn({
      1: { type: 'auto', text: '1' },
      3: { type: 'auto', text: '3' },
      4: { type: 'no' },
      5: 7,
    });
    expect(bound('select $3, $1', values)).toEqual([1, null, 3]);
    expect(bound('select 1', values)).toBeUndefined();
    expect(Object.keys(values)).toEqual(['1', '3']);
  });
});
