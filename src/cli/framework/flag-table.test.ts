import { describe, expect, it } from 'vitest';
import { UsageError } from '../../config/usage-error.ts';
import { parseArguments } from './flag-table.ts';
import { columnList } from './flag-values.ts';

const table = {
  summary: '',
  operands: { shown: '[TEXT]', least: 0, most: 2 },
  flags: {
    output: { short: 'o', value: 'FILE', help: '' },
    param: { value: 'VALUE', repeated: true, help: '' },
    json: { help: '' },
  },
  notes: [],
  examples: [],
} as const;

const parse = (...argv: string[]) => parseArguments('test', table, argv);

describe('arguments', () => {
  it.each([
    [['-o', 'x'], { output: 'x' }, []],
    [['-ox'], { output: 'x' }, []],
    [['--output=x=y'], { output: 'x=y' }, []],
    [['--param', '-1', '--param=', 'a'], { param: ['-1', ''] }, ['a']],
    [['--json', '-'], { json: true }, ['-']],
    [['-- a comment\nselect 1'], {}, ['-- a comment\nselect 1']],
    [['-5'], {}, ['-5']],
    [['--', '--json'], {}, ['--json']],
  ])('%j', (argv, flags, operands) => {
    expect(parse(...argv)).toEqual({ operands, flags: { output: undefined, param: [], json: false, ...flags } });
  });

  it.each([
    [['--jsn'], 'unknown flag "--jsn"; did you mean --json?'],
    [['-x'], 'unknown flag "-x"'],
    [['--json=yes'], '--json takes no value; leave out "yes"'],
    [['--output'], '--output needs a value: --output FILE'],
    [['-o', '--json'], '-o needs a value: -o FILE'],
    [['-o', 'a', '--output', 'b'], '--output is given twice; give it once'],
    [['a', 'b', 'c'], 'unexpected argument "c"; usage: framehold test [TEXT]'],
  ])('%j is refused', (argv, message) => {
    expect(() => parse(...argv)).toThrow(UsageError);
    expect(() => parse(...argv)).toThrow(message);
  });
});

describe('a list of columns', () => {
  it.each([
    ['a', ['a']],
    ['a, b c ,d', ['a', 'b c', 'd']],
    ['"a,b",c', ['a,b', 'c']],
    ['"say ""hi""" ,c', ['say "hi"', 'c']],
  ])('%j', (text, names) => {
    expect(columnList('--columns', text)).toEqual(names);
  });

  it.each(['', 'a,', ',a', '"a', '"a"b'])('%j is refused', (text) => {
    expect(() => columnList('--columns', text)).toThrow('expected column names with commas between them');
  });
});
