import { describe, expect, test } from 'vitest';
import { parseArguments } from './arguments.ts';

describe('parseArguments', () => {
  const known = ['tpch-cold', 'tpch-warm', 'flight-get-hot', 'flight-get-hot-trades', 'start'];

  test.each([
    [['start'], ['start']],
    [['tpch'], ['tpch-cold', 'tpch-warm']],
    [['flight-get-hot'], ['flight-get-hot', 'flight-get-hot-trades']],
    [
      ['tpch-warm', 'start'],
      ['tpch-warm', 'start'],
    ],
    [[], []],
  ])('%j stands for %j', (given, names) => {
    expect(parseArguments(given, known).names).toEqual(names);
  });

  test('a part of a word stands for nothing', () => {
    expect(() => parseArguments(['tpc'], known)).toThrow('no case tpc; there are tpch-cold');
  });
});
