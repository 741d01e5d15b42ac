import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Connection, col, connect, count, type Expression, type Frame, lit } from '#client/node.ts';
import { readStatement } from '../../src/engines/spark/sql/read-statement.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';

let server: Framehold;
let db: Connection;
beforeAll(async () => {
  server = await startFramehold();
  db = connect(server.url);
  await db.put('trades', [
    { id: 1, symbol: 'BTC', price: 10.5, day: '2026-01-30', 'say "x"': 'a' },
    { id: 2, symbol: 'ETH', price: null, day: '2026-01-31', 'say "x"': 'b_c' },
    { id: 3, symbol: 'BTC', price: 20, day: '2026-02-01', 'say "x"': '%' },
    { id: 4, symbol: null, price: 5, day: '2026-02-01', 'say "x"': '!' },
  ]);
  await db.put('names', [
    { symbol: 'BTC', name: 'Bitcoin', id: 7 },
    { symbol: 'XRP', name: 'Ripple', id: 8 },
  ]);
});
afterAll(async () => {
  db.close();
  await server[Symbol.asyncDispose]();
});

/** The cells of what a query gives, whole numbers as numbers. The statement is one that Spark's reader takes, too. */
async function cells(frame: Frame<unknown>): Promise<unknown[][]> {
  readStatement((await frame.sql()).text);
  const result = await frame.collect();
  const rows: unknown[][] = [];
  for await (const row of result.values())
    rows.push(row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));
  return rows;
}

const trades = () => db.frame<{ id: bigint; symbol: string | null; price: number | null }>('trades');

describe('a frame', () => {
  test('is filtered by all conditions, of which NULL is none', async () => {
    const ids = async (...conditions: readonly Expression[]) =>
      (
        await cells(
          trades()
            .filter(...conditions)
            .select('id')
            .sort('id'),
        )
      ).flat();
    expect(await ids(col('price').gt(10))).toEqual([1, 3]);
    expect(await ids(col('price').ge(5), col('symbol').eq('BTC'))).toEqual([1, 3]);
    expect(await ids(col('price').lt(6).or(col('price').isNull()))).toEqual([2, 4]);
    expect(await ids(col('symbol').ne('BTC'))).toEqual([2]);
    expect(await ids(col('price').isBetween(5, 10.5).and(col('price').le(10.5)))).toEqual([1, 4]);
    expect(await ids(col('symbol').isIn(['ETH', null, 'BTC']).not())).toEqual([]);
    expect(await ids(col('symbol').isIn([]))).toEqual([]);
    expect(await ids(col('symbol').isNotNull())).toEqual([1, 2, 3]);
    expect(await ids(col('say "x"').contains('_'))).toEqual([2]);
    expect(await ids(col('say "x"').startsWith('%'))).toEqual([3]);
    expect(await ids(col('say "x"').endsWith('!'))).toEqual([4]);
    expect(await ids(col('day').month().eq(1))).toEqual([1, 2]);
  });

  test('values are sent apart from the SQL, whatever they hold', async () => {
    const evil = "x'); DROP TABLE trades; --";
    const frame = trades().filter(col('symbol').eq(evil));
    expect(await frame.sql()).toEqual({
      text: 'SELECT * FROM "trades" AS t WHERE (t."symbol" = ?)',
      params: [evil],
    });
    expect(await frame.collect().rows()).toEqual([]);
    expect((await db.frame('no" such').sql()).text).toBe('SELECT * FROM "no"" such" AS t');
  });

  test('gives the columns that are chosen, computed and named', async () => {
    const chosen = trades()
      .sort('id')
      .select('id', col('price').mul(2).add(1).alias('more'), { half: col('id').div(2), other: 'symbol' }, lit('x'))
      .limit(2);
    expect(await chosen.columns()).toEqual(['id', 'more', 'half', 'other', 'literal']);
    expect(await cells(chosen)).toEqual([
      [1, 22, 0.5, 'BTC', 'x'],
      [2, null, 1, 'ETH', 'x'],
    ]);
    const added = trades().withColumns(
      { price: col('price').fillNull(0).neg(), day: col('day').day() },
      { n: lit(1n) },
    );
    expect(await added.columns()).toEqual(['id', 'symbol', 'price', 'day', 'say "x"', 'n']);
    expect(await cells(added.sort('id').limit(2))).toEqual([
      [1, 'BTC', -10.5, 30, 'a', 1],
      [2, 'ETH', -0, 31, 'b_c', 1],
    ]);
  });

  test('is grouped', async () => {
    const groups = trades()
      .groupBy('symbol')
      .agg(count(), {
        total: col('price').sum(),
        mean: col('price').mean(),
        low: col('price').min(),
        high: col('price').max(),
        some: col('price').count(),
        different: col('price').nUnique(),
        spread: col('price').std(),
      })
      .sort('symbol', { nullsLast: true });
    expect(await cells(groups)).toEqual([
      ['BTC', 2, 30.5, 15.25, 10.5, 20, 2, 2, expect.closeTo(6.717514421)],
      ['ETH', 1, 0, null, null, null, 0, 1, null],
      [null, 1, 5, 5, 5, 5, 1, 1, null],
    ]);
    expect(await cells(trades().select(count(), col('price').sum().alias('total')))).toEqual([[4, 35.5]]);
    expect(
      await cells(
        trades()
          .groupBy({ m: col('day').month() })
          .agg(count())
          .sort('m'),
      ),
    ).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  test('is joined', async () => {
    const names = db.frame('names');
    const joined = trades().join(names, { on: 'symbol' }).sort('id');
    expect(await joined.columns()).toEqual(['id', 'symbol', 'price', 'day', 'say "x"', 'name', 'id_right']);
    expect((await cells(joined)).map(([id, , , , , name, right]) => [id, name, right])).toEqual([
      [1, 'Bitcoin', 7],
      [3, 'Bitcoin', 7],
    ]);
    const ids = async (how: 'left' | 'semi' | 'anti') =>
      (
        await cells(
          trades()
            .join(names.filter(col('id').lt(8)), { on: ['symbol'], how })
            .select('id')
            .sort('id'),
        )
      ).flat();
    expect(await ids('left')).toEqual([1, 2, 3, 4]);
    expect(await ids('semi')).toEqual([1, 3]);
    expect(await ids('anti')).toEqual([2, 4]);
  });

  test('verbs have the order in which they are called', async () => {
    const top = trades().sort('price', { descending: true, nullsLast: true }).limit(2);
    expect((await cells(top.select('id'))).flat()).toEqual([3, 1]);
    expect((await cells(top.filter(col('id').eq(1)).select('id'))).flat()).toEqual([1]);
    expect((await cells(top.sort('id').select('id'))).flat()).toEqual([1, 3]);
    expect((await cells(trades().select('symbol').distinct().sort('symbol').limit(5).limit(1))).flat()).toEqual([null]);
    expect((await cells(trades().limit(1).distinct().select(count()))).flat()).toEqual([1]);
    const twice = trades()
      .sort(['symbol', 'id'], { descending: [false, true] })
      .select('id');
    expect((await cells(twice)).flat()).toEqual([4, 3, 1, 2]);
  });

  test('is collected as rows, as they come and as Arrow, and kept', async () => {
    const frame = trades().filter(col('price').gt(10)).sort('id');
    expect((await frame.collect().rows()).map(({ symbol }) => symbol)).toEqual(['BTC', 'BTC']);
    const ids: bigint[] = [];
    for await (const { id } of frame.collect({ engine: 'local' })) ids.push(id);
    expect(ids).toEqual([1n, 3n]);
    expect(await (await frame.collect().bytes('csv')).text()).toContain('BTC');
    expect(await frame.keep('dear', { mode: 'overwrite', ttl: '1h' })).toMatchObject({ handle: 'dear', rows: 2 });
    expect((await db.info('dear')).ttl).toBe(3600);
  });

  test('refuses what means nothing', async () => {
    expect(() => trades().filter(col('price').sum().gt(1))).toThrow('groupBy');
    expect(() => trades().groupBy('symbol').agg('price')).toThrow('"price" is no aggregate');
    expect(() => trades().select('id', 'id')).toThrow('two columns are named "id"');
    expect(() => trades().select()).toThrow('no columns');
    expect(() => trades().limit(-1)).toThrow('limit is -1');
    expect(() => trades().sort('id', { descending: [true, false] })).toThrow('2 values for 1');
    expect(() => col('a').eq(null)).toThrow('isNull');
    expect(() => col('a').sum().max()).toThrow('aggregate of an aggregate');
    expect(() => trades().join(connect(server.url).frame('names'), { on: 'id' })).toThrow('same connection');
    await expect(
      db
        .frame('nobody')
        .withColumns({ a: lit(1) })
        .sql(),
    ).rejects.toMatchObject({ code: 'handle_not_found' });
    await expect(trades().filter(col('prise').gt(1)).collect().rows()).rejects.toMatchObject({ code: 'sql_error' });
  });
});
