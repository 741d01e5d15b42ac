import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { startUpstream } from '../support/upstream.ts';
import { answer as upstreamAnswer } from '../support/upstream-answer.ts';

let server: Framehold;

beforeAll(async () => {
  server = await startFramehold({});
  await run(`CREATE TABLE ticks AS SELECT TIMESTAMP '2026-01-01' + to_seconds(i) AS at, sin(i / 500) * 100 AS price,
    i AS n, ['A', 'B', 'C'][1 + i % 3] AS symbol, CASE WHEN i % 10 = 0 THEN NULL ELSE i::DOUBLE END AS gaps
    FROM range(30000) AS t(i)`);
}, 60_000);

afterAll(() => server[Symbol.asyncDispose]());

async function post(path: string, body: object): Promise<Answer> {
  return await ask(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function run(sql: string): Promise<Answer> {
  const answer = await post('/sql', { sql });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

interface Series {
  readonly column: string | null;
  readonly group: string | null;
  readonly x: number[];
  readonly y: number[];
  readonly low?: number[];
  readonly high?: number[];
}

interface Drawn {
  readonly x: { readonly type: string; readonly from: number; readonly to: number };
  readonly series: Series[];
  readonly cells?: { readonly columns: number; readonly rows: number; readonly counts: number[] };
  readonly step?: number;
  readonly rows: number;
  readonly points: number;
  readonly complete: boolean;
  readonly cut: boolean;
  readonly series_count: number;
  readonly category_count?: number;
}

async function plot(body: object): Promise<Drawn> {
  const answer = await post('/plot', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as unknown as Drawn;
}

const startUs = Date.UTC(2026, 0, 1) * 1000;

describe('a line', () => {
  test('has at most four points a pixel column, among them the lowest and the highest of all', async () => {
    const { x, series, rows, points, complete } = await plot({ handle: 'ticks', x: 'at', y: ['price'], width: 100 });
    const [line] = series as [Series];
    expect([x.type, x.from, x.to]).toEqual(['time', startUs, startUs + 29_999e6]);
    expect([rows, complete]).toEqual([30_000, false]);
    expect(points).toBeLessThanOrEqual(400);
    expect([line.x.length, line.x[0], line.x.at(-1)]).toEqual([points, startUs, startUs + 29_999e6]);
    expect([...line.x].sort((a, b) => a - b)).toEqual(line.x);
    const values = Array.from({ length: 30_000 }, (_, i) => Math.sin(i / 500) * 100);
    expect(Math.max(...line.y)).toBeCloseTo(Math.max(...values), 9);
    expect(Math.min(...line.y)).toBeCloseTo(Math.min(...values), 9);
  });

  test('of a large frame, which is made in two halves, is the line of all its rows', async () => {
    await run(`CREATE TABLE many AS SELECT TIMESTAMP '2026-01-01' + to_seconds(i) AS at, hash(i) % 1000 AS value
      FROM range(2000010) AS t(i)`);
    const line = { x: 'at', y: 'value', width: 101 };
    const whole = await plot({ sql: 'SELECT * FROM many', engine: 'local', ...line });
    const divided = await plot({ handle: 'many', ...line });
    expect([divided.rows, divided.x]).toEqual([2_000_010, whole.x]);
    const pointsOf = ({ series }: Drawn): string[] => (series[0]?.x ?? []).map((x, i) => `${x} ${series[0]?.y[i]}`);
    expect(pointsOf(divided)).toEqual(expect.arrayContaining(pointsOf(whole)));
    // Four of the bucket that both halves have rows of.
    expect(divided.points).toBeLessThanOrEqual(whole.points + 4);
    expect(pointsOf(divided)).toEqual(
      [...pointsOf(divided)].sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b)),
    );
  });

  test('of a part is made of the rows in it, and is complete where they are few', async () => {
    const part = { from: startUs + 100e6, to: '2026-01-01T00:01:49Z' };
    const { x, series, rows, complete } = await plot({ handle: 'ticks', x: 'at', y: 'n', width: 500, ...part });
    expect([rows, complete, x.from, x.to]).toEqual([10, true, startUs + 100e6, startUs + 109e6]);
    expect(series[0]?.y).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109]);
  });

  test('leaves out NULL, NaN and the infinities, and rows without x', async () => {
    const sql = `SELECT * FROM (VALUES (1, 1::DOUBLE), (2, NULL), (3, 'NaN'::DOUBLE), (4, 'Infinity'::DOUBLE), (NULL, 5), (6, 6)) AS t(x, y)`;
    const { series, rows } = await plot({ sql, x: 'x', y: 'y' });
    expect([series[0]?.x, series[0]?.y, rows]).toEqual([[1, 6], [1, 6], 5]);
    // They are counted; NULL is none of them.
    await run(`CREATE TABLE broken AS ${sql}`);
    for (const kind of ['line', 'band', 'bars']) {
      const expected = { not_finite: 2, rows: 5 };
      expect(await plot({ sql, x: 'x', y: 'y', kind }), kind).toMatchObject(expected);
      expect(await plot({ handle: 'broken', x: 'x', y: 'y', kind }), kind).toMatchObject(expected);
    }
    const texts = await plot({ sql: `SELECT 'a' AS x, y FROM broken`, x: 'x', y: 'y', kind: 'bars' });
    expect(texts).toMatchObject({ not_finite: 2 });
    expect(await plot({ handle: 'ticks', x: 'at', y: ['price'] })).toMatchObject({ not_finite: 0 });
  });

  test('of one single x, of no rows, of unordered rows and of the whole range of LONG is drawn', async () => {
    expect((await plot({ sql: 'SELECT 7 AS x, range AS y FROM range(3)', x: 'x', y: 'y' })).series[0]?.x).toEqual([
      7, 7,
    ]);
    const none = await plot({ sql: 'SELECT 7 AS x, 1 AS y WHERE false', x: 'x', y: 'y' });
    expect([none.series, none.rows, none.complete]).toEqual([[], 0, true]);
    const falling = await plot({ sql: 'SELECT 9 - range AS x, range AS y FROM range(10)', x: 'x', y: 'y' });
    expect(falling.series[0]?.x).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const wide = 'SELECT unnest([-9223372036854775808, 0, 9223372036854775807]) AS x, 1 AS y';
    expect((await plot({ sql: wide, x: 'x', y: 'y' })).rows).toBe(3);
    const doubles = `SELECT unnest(['-1.7e308'::DOUBLE, 0, '1.7e308'::DOUBLE]) AS x, 1 AS y`;
    expect((await plot({ sql: doubles, x: 'x', y: 'y' })).rows).toBe(3);
  });

  test('keeps times apart that are a microsecond apart', async () => {
    const sql = `SELECT TIMESTAMP '2026-01-01' + to_microseconds(range) AS t, range AS y FROM range(5)`;
    expect((await plot({ sql, x: 't', y: 'y' })).series[0]?.x).toEqual([0, 1, 2, 3, 4].map((us) => startUs + us));
  });

  test('without x counts the rows', async () => {
    const { x, series } = await plot({ sql: 'SELECT range * 2 AS y FROM range(5)', y: 'y', from: 1, to: 3 });
    expect([x.type, series[0]?.x, series[0]?.y]).toEqual(['row', [1, 2, 3], [2, 4, 6]]);
  });
});

test('series are those with the most rows, and how many there are is told', async () => {
  const { series, series_count } = await plot({ handle: 'ticks', x: 'at', y: ['n'], series: 'symbol', width: 50 });
  expect([series.map(({ group }) => group), series_count]).toEqual([['A', 'B', 'C'], 3]);
  const many = await plot({ sql: 'SELECT range % 20 AS s, range AS n FROM range(1000)', x: 'n', y: 'n', series: 's' });
  expect([many.series.length, many.series_count]).toEqual([8, 20]);
});

test('a band has the average between the lowest and the highest value', async () => {
  const { series } = await plot({ handle: 'ticks', kind: 'band', x: 'at', y: ['n'], width: 30 });
  const [band] = series as [Series];
  expect([band.x.length, band.low?.[0], band.high?.[0], band.y[0]]).toEqual([30, 0, 999, 499.5]);
});

test('bars begin at round times, and texts have a bar each', async () => {
  const hours = await plot({ handle: 'ticks', kind: 'bars', x: 'at', y: ['n'], aggregate: 'max', bins: 10 });
  expect([hours.step, hours.series[0]?.x[1], hours.series[0]?.y[0]]).toEqual([3600e6, startUs + 3600e6, 3599]);
  const texts = await plot({ handle: 'ticks', kind: 'bars', x: 'symbol' });
  expect([texts.series[0]?.x, texts.series[0]?.y]).toEqual([
    ['A', 'B', 'C'],
    [10_000, 10_000, 10_000],
  ]);
});

test.each([
  ['by the engine', 'SELECT n % 70 AS n, (n % 70)::VARCHAR AS digits FROM ticks'],
  ['here', 'PIVOT (SELECT (range % 70)::VARCHAR AS digits, 1 AS n FROM range(100)) ON n GROUP BY digits'],
])('bars that are reduced %s tell how many texts have none', async (_, sql) => {
  const bars = await plot({ sql, kind: 'bars', x: 'digits' });
  expect([bars.series[0]?.x.length, bars.category_count]).toEqual([50, 70]);
});

test('a histogram counts every value once', async () => {
  const { series, step } = await plot({ handle: 'ticks', kind: 'histogram', x: 'price', bins: 40 });
  expect([step, series[0]?.x[0], series[0]?.y.reduce((a, b) => a + b, 0)]).toEqual([5, -100, 30_000]);
  const negative = await plot({ sql: 'SELECT range - 5 AS n FROM range(10)', kind: 'histogram', x: 'n', bins: 2 });
  expect([negative.step, negative.series[0]?.x, negative.series[0]?.y]).toEqual([5, [-5, 0], [5, 5]]);
});

test('a scatter plot has its points, or cells where they are many', async () => {
  const few = await plot({ handle: 'ticks', kind: 'scatter', x: 'n', y: 'price', from: 0, to: 99 });
  expect([few.points, few.complete, few.series[0]?.x.length]).toEqual([100, true, 100]);
  const many = await plot({ handle: 'ticks', kind: 'scatter', x: 'n', y: 'price', width: 100, height: 50 });
  const counts = many.cells?.counts ?? [];
  expect([many.cells?.columns, many.cells?.rows, many.series]).toEqual([20, 10, []]);
  expect(counts.filter((_, i) => i % 3 === 2).reduce((a, b) => a + b, 0)).toBe(30_000);
});

describe('a statement', () => {
  test.each([
    ['a semicolon', 'SELECT 1 AS x, 2 AS y;'],
    ['a comment at its end', 'SELECT 1 AS x, 2 AS y -- the end'],
    ['a comment behind its semicolon', 'SELECT 1 AS x, 2 AS y; -- the end'],
    ['a WITH of its own', 'WITH q AS (SELECT 1 AS x, 2 AS y) FROM q'],
    ['names of ours', 'SELECT 1 AS x, 2 AS y, 3 AS c0, 4 AS s'],
  ])('with %s is drawn', async (_, sql) => {
    const { series } = await plot({ sql, x: 'x', y: 'y' });
    expect([series[0]?.x, series[0]?.y]).toEqual([[1], [2]]);
  });

  test('that cannot stand inside another one is drawn all the same', async () => {
    const sql = 'PIVOT (SELECT n % 2 AS x, symbol, n FROM ticks WHERE n < 60) ON symbol USING sum(n)';
    const { series } = await plot({ sql, x: 'x', y: ['A', 'B'], kind: 'bars' });
    expect(series.map(({ column, x }) => [column, x])).toEqual([
      ['A', [0, 1]],
      ['B', [0, 1]],
    ]);
  });

  test('takes the values of its parameters, whatever is drawn of it', async () => {
    const named = {
      sql: 'SELECT n, price * $by AS y FROM ticks WHERE n < $most',
      params: { by: 2, most: 1000 },
      x: 'n',
    };
    for (const kind of ['line', 'band', 'bars', 'scatter']) {
      expect(await plot({ ...named, kind, y: ['y'] }), kind).toMatchObject({ rows: 1000 });
    }
    expect((await plot({ ...named, kind: 'histogram' })).rows).toBe(1000);
    const shown = await plot({ sql: 'SELECT ? AS n, ?::DOUBLE AS y', params: [7, '2.5'], x: 'n', y: ['y'] });
    expect(shown.series).toMatchObject([{ x: [7], y: [2.5] }]);
    expect((await post('/plot', { ...named, params: { by: 2 }, y: ['y'] })).json()).toMatchObject({
      code: 'missing_parameter',
      error: 'parameter most has no value',
    });
    expect((await post('/plot', { handle: 'ticks', params: [1], y: ['n'] })).json()).toMatchObject({
      code: 'invalid_parameter',
    });
  });

  test('that fails tells where, in its own text', async () => {
    const wrong = await post('/plot', { sql: 'SELECT prise FROM ticks', y: 'prise' });
    expect([wrong.status, wrong.json().code, wrong.json().position]).toEqual([400, 'sql_error', 7]);
  });

  test('that fails while it runs is not run again with more care', async () => {
    const sql = "SELECT range AS x, CASE WHEN range = 9 THEN error('no such luck') ELSE range END AS y FROM range(10)";
    const begun = async (): Promise<number> => {
      const stats = (await ask(`${server.url}/stats`)).json() as { server: { statements: { begun: number } } };
      return stats.server.statements.begun;
    };
    const begunBy = async (kind: string): Promise<number> => {
      const before = await begun();
      const answer = await post('/plot', { sql, kind, x: 'x', y: 'y' });
      expect([answer.status, answer.json().code], answer.text).toEqual([400, 'sql_error']);
      return (await begun()) - before;
    };
    const once = await begunBy('bars');
    expect([await begunBy('line'), await begunBy('band')]).toEqual([once, once]);
  });

  test('is listed in the words of its caller while it is drawn', async () => {
    const sql = 'SELECT range AS x, range % 7 AS y FROM range(100_000_000_000)';
    const listed = async (): Promise<readonly string[]> => {
      const { queries } = (await ask(`${server.url}/queries`)).json() as { queries: readonly { sql: string }[] };
      return queries.map((query) => query.sql);
    };
    const headers = { 'content-type': 'application/json', 'x-request-id': 'drawn' };
    const body = JSON.stringify({ sql, x: 'x', y: 'y' });
    const answer = ask(`${server.url}/plot`, { method: 'POST', headers, body });
    await expect.poll(listed).toEqual([sql]);
    await ask(`${server.url}/queries/drawn`, { method: 'DELETE' });
    expect((await answer).json().code).toBe('sql_cancelled');
  });

  test('that changes frames is refused', async () => {
    const drop = await post('/plot', { sql: 'DROP TABLE ticks', y: 'n' });
    expect([drop.status, drop.json().code]).toEqual([403, 'sql_forbidden']);
  });
});

test.each([
  ['a column that is not there', { handle: 'ticks', x: 'at', y: ['prise'] }, 'invalid_parameter', 'price'],
  ['a text for y', { handle: 'ticks', x: 'at', y: ['symbol'] }, 'invalid_parameter', 'no numbers'],
  ['a line over texts', { handle: 'ticks', x: 'symbol', y: ['n'] }, 'invalid_parameter', 'neither'],
  ['nothing to draw', { x: 'at' }, 'missing_parameter', 'handle'],
  ['a frame that is not there', { handle: 'nothing', y: 'n' }, 'handle_not_found', 'nothing'],
  ['an end that is no time', { handle: 'ticks', x: 'at', y: 'n', from: 'soon' }, 'invalid_parameter', 'soon'],
])('%s is refused', async (_, body, code, text) => {
  const answer = await post('/plot', body);
  expect([answer.json().code, answer.text.includes(text)]).toEqual([code, true]);
});

test('of the external database only queries are drawn', async () => {
  const columns = ['a', 'b'].map((name) => ({ name, type: 'LONG' }));
  const rows = upstreamAnswer(JSON.stringify({ columns, dataset: [[1, 2]], count: 1 }));
  await using upstream = await startUpstream(({ write }) => write(rows));
  await using proxy = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
  const send = (sql: string): Promise<Answer> =>
    ask(`${proxy.url}/plot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql, engine: 'tsdb', x: 'a', y: ['b'] }),
    });
  for (const sql of [
    'drop table t',
    'select 1; drop table t',
    'with x as (select 1 a) update t set a = 1',
    '/* /* */ select */ drop table t',
  ]) {
    expect((await send(sql)).json(), sql).toMatchObject({ code: 'sql_forbidden' });
  }
  expect(upstream.requests).toHaveLength(0);
  const query = await send("with x as (select 1 a) select ';' s, (a) b from x; -- update");
  expect([query.status, query.json().points], query.text).toEqual([200, 1]);
});

describe('the profile of a column', () => {
  const profile = (handle: string, query: string, headers = {}): Promise<Answer> =>
    ask(`${server.url}/handles/${handle}/profile?${query}`, { headers });

  test('tells its NULLs, ends, different values, commonest values and histogram', async () => {
    const gaps = (await profile('ticks', 'column=gaps')).json();
    expect(gaps).toMatchObject({ rows: 30_000, count: 27_000, nulls: 3000, nans: 0, min: 1, max: 29_999 });
    const { bins } = gaps.histogram as { bins: { count: number }[] };
    expect(bins.length).toBeLessThanOrEqual(50);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(27_000);
    const symbol = (await profile('ticks', 'column=symbol')).json();
    expect(symbol).toMatchObject({ min: 'A', max: 'C', distinct: 3, histogram: null, quantiles: null });
    expect(symbol.top).toEqual(['A', 'B', 'C'].map((value) => ({ value, count: 10_000 })));
    const at = (await profile('ticks', 'column=at&parts=values&quantiles=true')).json();
    expect([at.type, at.top, at.min]).toEqual(['TIMESTAMP', null, '2026-01-01T00:00:00.000000Z']);
    expect(at.quantiles).toContainEqual({ rank: 0.5, value: '2026-01-01T04:09:59.000000Z' });
  });

  test('is exact where JSON would round, and is told of any type under any name', async () => {
    await run(`CREATE TABLE odd AS SELECT 9007199254740993 AS "a ""b"" <i>", [1, 2] AS l, {'a': 1} AS s, 'NaN'::DOUBLE AS f,
      NULL AS nothing, 1.10::DECIMAL(38, 2) AS d, '\\x01'::BLOB AS b, '{"a":1}'::JSON AS j, true AS t, DATE '2026-01-01' AS day`);
    const exact = (await profile('odd', `column=${encodeURIComponent('a "b" <i>')}`)).json();
    expect([exact.min, exact.max]).toEqual(['9007199254740993', '9007199254740993']);
    for (const column of ['l', 's', 'f', 'nothing', 'd', 'b', 'j', 't', 'day']) {
      const answer = await profile('odd', `column=${column}&quantiles=true`);
      expect([answer.status, answer.json().rows], answer.text).toEqual([200, 1]);
    }
    expect((await profile('odd', 'column=f')).json()).toMatchObject({ nans: 1, min: null, max: null });
  });

  test('tells NaN and the infinities of numbers and times by name, not as NULL', async () => {
    await run(`CREATE TABLE infinite AS SELECT * FROM (VALUES ('NaN'::DOUBLE, TIMESTAMP 'infinity'), ('inf', '-infinity'),
      ('-inf', '2026-01-01'), (3, '2026-01-01')) t(f, moment)`);
    const f = (await profile('infinite', 'column=f&quantiles=true')).json();
    expect(f).toMatchObject({ nulls: 0, nans: 1, min: '-Infinity', max: 'Infinity', distinct: 4 });
    expect(f.top).toEqual(['-Infinity', 3, 'Infinity', 'NaN'].map((value) => ({ value, count: 1 })));
    expect(f.quantiles).toContainEqual({ rank: 0.99, value: 'Infinity' });
    const at = (await profile('infinite', 'column=moment')).json();
    expect(at).toMatchObject({ nulls: 0, min: '-Infinity', max: 'Infinity', distinct: 3 });
    expect(at.top).toContainEqual({ value: '-Infinity', count: 1 });
  });

  test('counts different values exactly beside their commonest ones, and says where it has only an estimate', async () => {
    await run(
      'CREATE TABLE apart AS SELECT range AS n, range % 20_011 AS k, md5((range % 77_777)::VARCHAR) AS word FROM range(200_000)',
    );
    for (const [column, distinct] of [
      ['n', 200_000],
      ['k', 20_011],
      ['word', 77_777],
    ] as const) {
      expect((await profile('apart', `column=${column}`)).json(), column).toMatchObject({
        distinct,
        distinct_exact: true,
      });
    }
    expect((await profile('apart', 'column=n&parts=values')).json().distinct_exact).toBe(false);
    await run('CREATE TABLE nothing_there AS SELECT NULL::INTEGER AS n FROM range(3)');
    expect((await profile('nothing_there', 'column=n')).json()).toMatchObject({
      distinct: 0,
      distinct_exact: true,
      top: [],
    });
  });

  test('never tells more different values than there are values', async () => {
    const { distinct, count } = (await profile('ticks', 'column=n')).json();
    expect([count, Number(distinct) <= 30_000]).toEqual([30_000, true]);
    await run('CREATE TABLE thousand AS SELECT range AS n FROM range(1000)');
    expect((await profile('thousand', 'column=n')).json().distinct).toBeLessThanOrEqual(1000);
  });

  test('costs nothing where the version is known, and is another one when the frame changes', async () => {
    await run('CREATE TABLE growing AS SELECT 1 AS n');
    const first = await profile('growing', 'column=n');
    const etag = first.headers.etag;
    const known = await profile('growing', 'column=n', { 'if-none-match': etag });
    expect([known.status, known.text]).toEqual([304, '']);
    await run('INSERT INTO growing VALUES (2)');
    const changed = await profile('growing', 'column=n', { 'if-none-match': etag });
    expect([changed.status, changed.json().rows]).toEqual([200, 2]);
  });

  test('is refused without a column, and for one that is not there', async () => {
    expect((await profile('ticks', '')).json().code).toBe('missing_parameter');
    expect((await profile('ticks', 'column=prise')).json().code).toBe('invalid_parameter');
    expect((await profile('ticks', 'column=n&parts=all')).json().code).toBe('invalid_parameter');
  });
});
