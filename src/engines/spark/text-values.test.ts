import { expect, test } from 'vitest';
import { valueOfText } from './text-values.ts';

const types = {
  boolean: { kind: 'boolean' },
  double: { kind: 'float', bits: 64 },
  decimal: { kind: 'decimal', precision: 10, scale: 2 },
  int: { kind: 'int', bits: 32, signed: true },
  date: { kind: 'date' },
} as const;

test.each([
  ['boolean', ' True ', true],
  ['double', ' -inf', -Infinity],
  ['double', '1e3 ', 1000],
  ['decimal', ' 1.005 ', 101n],
  ['int', ' -7', -7n],
  ['date', '1970-01-02 ', 1n],
] as const)('%s takes %o', (type, text, value) => {
  expect(valueOfText('p', types[type], text)).toBe(value);
});

test.each(Object.keys(types) as (keyof typeof types)[])('%s takes no name that every object has', (type) => {
  for (const text of ['constructor', '__proto__', 'toString']) {
    expect(() => valueOfText('p', types[type], text)).toThrow('parameter p is not of type');
  }
});

test.each(Object.keys(types) as (keyof typeof types)[])('%s refuses a million blanks at once', (type) => {
  for (const text of [' '.repeat(1_000_000), `${' '.repeat(1_000_000)}x`, `1${' '.repeat(1_000_000)}x`]) {
    expect(() => valueOfText('p', types[type], text)).toThrow('parameter p is not of type');
  }
});
