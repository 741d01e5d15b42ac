import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readResult } from './result-table.ts';

describe('a result', () => {
  it('keeps the digits of numbers, the JSON of nested values, and NULL apart from "null"', () => {
    const columns = [{ name: 'a', type: 'LONG' }];
    const json = `{"query":"q","columns":${JSON.stringify(columns)},"timestamp":-1,
      "dataset":[[9223372036854775807,1.50,null,"null","a\\"],[b",[1,[2,"]"]],{"x":"}"},true],[]],"count":2}`;
    expect(readResult(json)).toEqual({
      columns,
      rows: [['9223372036854775807', '1.50', null, 'null', 'a"],[b', '[1,[2,"]"]]', '{"x":"}"}', 'true'], []],
      facts: { query: 'q', timestamp: -1, count: 2 },
    });
  });

  it('without rows is told by its facts', () => {
    expect(readResult('{"dml":"OK","updated":3}')).toEqual({
      columns: [],
      rows: [],
      facts: { dml: 'OK', updated: 3 },
    });
  });

  it('has the cells that JSON.parse finds', () => {
    const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null));
    fc.assert(
      fc.property(fc.array(fc.array(cell)), fc.nat({ max: 3 }), (dataset, indent) => {
        const json = JSON.stringify({ query: '"]}', columns: [], dataset, count: dataset.length }, null, indent);
        expect(readResult(json).rows).toEqual(dataset);
      }),
    );
  });

  it('that ends early is refused', () => {
    expect(() => readResult('{"columns":[],"dataset":[[1,"a')).toThrow(SyntaxError);
  });
});
