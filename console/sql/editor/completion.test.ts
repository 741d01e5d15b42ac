import { describe, expect, it } from 'vitest';
import { completionsAt, indexOf, mostOptions, namedFrames } from './completion.ts';
import { dialects } from './dialects.ts';

const index = indexOf([
  {
    name: 'trades',
    rows: 10,
    columns: [
      { name: 'price', type: 'DOUBLE' },
      { name: 'Trade Id', type: 'LONG' },
    ],
  },
  { name: 'trades.v2', rows: 5, columns: [{ name: 'amount', type: 'DOUBLE' }] },
  { name: 'my_trades', rows: null, columns: [] },
  { name: 'desk/orders', rows: 1, columns: [] },
]);

/** `|` is the cursor. */
function labels(text: string, dialect = dialects.duckdb): readonly string[] {
  const [before = '', after = ''] = text.split('|');
  return completionsAt(before, after, index, dialect)?.options.map(({ label, apply }) => apply ?? label) ?? [];
}

describe('completion', () => {
  it('offers frames after FROM, those that begin so first', () => {
    expect(labels('select * from tra|')).toEqual(expect.arrayContaining(['trades', '"trades.v2"', 'my_trades']));
    expect(labels('select * from tra|').slice(0, 3)).toEqual(['trades', '"trades.v2"', 'my_trades']);
    expect(labels('select * from |')).toContain('desk.orders');
  });

  it('offers the columns of frames that stand behind the cursor, before functions', () => {
    expect(labels('select pr| from trades')[0]).toBe('price');
    expect(labels('select tr| from trades')[0]).toBe('"Trade Id"');
    expect(labels('select tr| from trades', dialects.spark)[0]).toBe('`Trade Id`');
  });

  it('offers only columns behind an alias', () => {
    expect(labels('select t.| from trades as t join "trades.v2" v on true')).toEqual(['price', '"Trade Id"']);
    expect(labels('select v.| from trades as t join "trades.v2" v on true')).toEqual(['amount']);
  });

  it('offers the frames of an owner behind its name', () => {
    for (const text of ['select * from desk.|', 'select * from desk.or|', 'select * from trades join DESK.o|'])
      expect(labels(text), text).toEqual(['orders']);
    expect(labels('select * from desk.tr|')).toEqual([]);
  });

  it('looks at one statement alone', () => {
    expect(labels('select * from trades; select pri|')).not.toContain('price');
  });

  it('follows the case of keywords, and knows the functions of the engine', () => {
    expect(labels('SEL|')).toContain('SELECT');
    expect(labels('sel|')).toContain('select');
    expect(labels('select arg_m|')).toEqual([
      'arg_max',
      'arg_max_null',
      'arg_max_nulls_last',
      'arg_min',
      'arg_min_null',
      'arg_min_nulls_last',
    ]);
    expect(labels('select sample from t late|', dialects.questdb)).toContain('latest');
  });

  it.each(['', 'f', 'frame_', 'rame_1'])('reads no more frames than it offers: %j', (word) => {
    let read = 0;
    const frames = Array.from({ length: 10_000 }, (_, at) => ({
      get name() {
        read += 1;
        return `frame_${at}`;
      },
      rows: at,
      columns: [],
    }));
    const many = indexOf(frames);
    read = 0;
    const found = completionsAt(`select * from ${word}`, '', many, dialects.duckdb);
    expect(found?.options).toHaveLength(mostOptions);
    expect(read).toBe(mostOptions);
  });

  it('offers nothing in a number', () => {
    expect(labels('select 12|')).toEqual([]);
  });
});

it('names in strings and comments are not frames of the statement', () => {
  expect([...namedFrames("select 'trades' -- trades\n from my_trades where", index).keys()]).toEqual(['my_trades']);
});
