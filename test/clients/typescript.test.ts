import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Table, tableFromArrays } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrow, arrowBatches, arrowBytes } from '#client/arrow.ts';
import { connect as connectByFetch } from '#client/index.ts';
import { type Connection, ConnectionError, connect, FrameholdError } from '#client/node.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(() => server[Symbol.asyncDispose]());

const ways: readonly [string, (url: string) => Connection][] = [
  ['over fetch', (url) => connectByFetch(url)],
  ['in Node', (url) => connect(url)],
];

describe.each(ways)('the client %s', (way, open) => {
  let db: Connection;
  beforeAll(() => {
    db = open(server.url);
  });
  afterAll(() => db.close());
  const named = (name: string): string => `${name}_${way.replaceAll(/\W/g, '_')}`;

  test('puts rows, and gets them as they were', async () => {
    const name = named('rows');
    const rows = [
      { id: 9_007_199_254_740_993n, symbol: 'AAPL', price: 1.5, at: new Date('2026-01-31T12:00:00.123Z'), ok: true },
      { id: 2n, symbol: 'say "x"\n', price: null, at: null, ok: null },
    ];
    const kept = await db.put(name, rows);
    expect(kept).toMatchObject({ handle: name, version: 1, rows: 2, repeated: false, rejectedRows: 0 });
    const selection = db.get<{ id: bigint; symbol: string }>(name);
    const result = await selection;
    expect(result.columns.map(({ type }) => type)).toEqual(['LONG', 'VARCHAR', 'DOUBLE', 'TIMESTAMP', 'BOOLEAN']);
    expect(await result.rows()).toEqual([
      { id: 9_007_199_254_740_993n, symbol: 'AAPL', price: 1.5, at: '2026-01-31T12:00:00.123000Z', ok: true },
      { id: 2n, symbol: 'say "x"\n', price: null, at: null, ok: null },
    ]);
    await expect(selection.rows()).rejects.toThrow('rows');
  });

  test('gets the columns and rows that are asked for, one by one as they come', async () => {
    const name = named('some');
    await db.sql(`CREATE TABLE ${name} AS SELECT range::INT AS "a, b", range * 2 AS b FROM range(100000)`);
    const seen: unknown[] = [];
    for await (const row of db.get(name, { columns: ['a, b'], rows: [99_998] })) seen.push(row);
    expect(seen).toEqual([{ 'a, b': 99_998 }, { 'a, b': 99_999 }]);
    expect(await db.get(name, { rows: [3, 5] }).rows()).toEqual([
      { 'a, b': 3, b: 6n },
      { 'a, b': 4, b: 8n },
    ]);
    expect(await db.get(name, { rows: [5, 5] }).rows()).toEqual([]);
    expect((await db.get(name).rows()).length).toBe(100_000);
    for await (const row of db.get(name)) {
      expect(row).toEqual({ 'a, b': 0, b: 0n });
      break;
    }
    await expect(db.get(name, { rows: [-1] }).rows()).rejects.toThrow('counted from 0');
  });

  test('gets columns whose names are too long for a URL', async () => {
    const name = named('wide');
    const columns = Array.from({ length: 800 }, (_, at) => `a column of a long name ${at}`);
    const list = columns.map((column, at) => `${at} AS "${column}"`).join(', ');
    await db.sql(`CREATE TABLE ${name} AS SELECT ${list}`);
    const [row] = await db.get(name, { columns: columns.toReversed(), rows: [0, 1] }).rows();
    expect(Object.entries(row ?? {})[0]).toEqual([columns.at(-1), 799]);
  });

  test('runs statements with parameters of every kind', async () => {
    const params = {
      n: 2n ** 63n,
      i: 7,
      d: 1.5,
      nan: Number.NaN,
      t: "it's",
      at: new Date(0),
      bytes: Uint8Array.of(0, 255),
      list: [1, 2],
      none: null,
      day: { type: 'DATE', value: '2026-01-31' },
    };
    const [row] = await db
      .sql(
        `SELECT $n AS n, $i AS i, $d AS d, isnan($nan) AS nan, $t AS t, $at AS "at", $bytes AS bytes, $list AS list,
           $none IS NULL AS none, $day AS day`,
        { params },
      )
      .rows();
    expect(row).toEqual({
      n: 2n ** 63n,
      i: 7,
      d: 1.5,
      nan: true,
      t: "it's",
      at: '1970-01-01T00:00:00.000000Z',
      bytes: Uint8Array.of(0, 255),
      list: [1, 2],
      none: true,
      day: '2026-01-31T00:00:00.000Z',
    });
    expect(await db.sql('SELECT ? + ? AS sum', { params: [1, 2] }).rows()).toEqual([{ sum: 3 }]);
  });

  test('keeps every digit, in lists, structs and sums too', async () => {
    const [row] = await db
      .sql(
        `SELECT 18446744073709551615::UBIGINT AS u, sum(x) AS s, list(x) AS l, {'x': max(x), 'y': 1} AS j,
           1.10::DECIMAL(10,2) AS dec, 2::TINYINT AS small FROM (VALUES (9007199254740993), (1)) t(x)`,
      )
      .rows();
    expect(row).toEqual({
      u: 18446744073709551615n,
      s: 9007199254740994n,
      l: [9007199254740993n, 1n],
      j: { x: 9007199254740993n, y: 1 },
      dec: '1.10',
      small: 2,
    });
  });

  test('gives all columns of the same name, and one that is called __proto__', async () => {
    const query = 'SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a';
    expect(await db.sql(query).rows()).toEqual([{ a: 1, a_2: 2, a_1: 3, a_3: 4 }]);
    const values: unknown[] = [];
    for await (const cells of (await db.sql(query)).values()) values.push(cells);
    expect(values).toEqual([[1, 2, 3, 4]]);
    const [row] = await db.sql('SELECT 3 AS "__proto__"').rows();
    expect(Object.entries(row ?? {})).toEqual([['__proto__', 3]]);
  });

  test('tells how many rows a statement changed, and keeps a result', async () => {
    const name = named('kept');
    await db.sql(`CREATE TABLE ${name} (n INT)`);
    expect((await db.sql(`INSERT INTO ${name} VALUES (1), (2), (3)`)).updated).toBe(3);
    const returned = await db.sql<{ n: number }>(`DELETE FROM ${name} WHERE n > 1 RETURNING n`);
    expect((await returned.rows()).map(({ n }) => n)).toEqual([2, 3]);
    expect(returned.updated).toBe(2);
    const kept = await db.sql(`SELECT n FROM ${name}`, { keep: `${name}_2`, mode: 'overwrite', ttl: '1h' });
    expect(kept).toMatchObject({ handle: `${name}_2`, rows: 1, version: 1, repeated: false });
    expect((await db.info(`${name}_2`)).ttl).toBe(3600);
  });

  test('names the engine, settings, limit and id that are given', async () => {
    const result = await db.sql("SELECT TIMESTAMPTZ '2026-01-31 23:30:00Z'::DATE AS day FROM range(10)", {
      engine: 'local',
      settings: { TimeZone: 'Europe/Berlin' },
      limit: 1,
      id: 'mine',
    });
    expect(await result.rows()).toEqual([{ day: '2026-02-01T00:00:00.000Z' }]);
    expect(result.engine).toBe('local');
  });

  test('an error has the code, the hint, the place and the id', async () => {
    const error = await db
      .sql('SELECT prise FROM range(3)')
      .rows()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FrameholdError);
    expect(error).toMatchObject({ code: 'sql_error', status: 400, position: 7, requestId: expect.any(String) });
    await expect(db.get('nobody').rows()).rejects.toMatchObject({ code: 'handle_not_found' });
    await expect(db.put('bad name!', 'a\n1\n')).rejects.toMatchObject({ code: 'invalid_handle' });
  });

  test('lists, describes, renews and drops frames', async () => {
    const name = named('life');
    await db.put(name, 'a,b\n1,2\n', { ttl: '1h' });
    expect((await db.handles({ prefix: name })).map(({ handle }) => handle)).toEqual([name]);
    expect(await db.info(name)).toMatchObject({ rows: 1, ttl: 3600 });
    expect((await db.renew(name, 60)).ttl).toBe(60);
    expect((await db.renew(name)).ttl).toBe(60);
    await expect(db.drop(name, { version: 7 })).rejects.toMatchObject({ code: 'handle_gone' });
    await db.drop(name);
    await expect(db.info(name)).rejects.toMatchObject({ code: 'handle_gone', status: 410 });
  });

  test('tells of the server, its engines, statements and the caller', async () => {
    expect(await db.server()).toMatchObject({ name: 'framehold', engines: ['local'] });
    expect((await db.engines()).map(({ name }) => name)).toContain('local');
    expect(await db.whoami()).toMatchObject({ role: 'operator', credential: 'none' });
    expect(await db.queries()).toEqual([]);
    await expect(db.cancel('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a statement is cancelled by its id, and by its signal', async () => {
    const long = 'SELECT count(*) FROM range(1000000) a, range(1000000) b';
    const cancelled = db.sql(long, { id: named('long') }).rows();
    cancelled.catch(() => {});
    await expect.poll(async () => (await db.queries()).map(({ id }) => id)).toContain(named('long'));
    await db.cancel(named('long'));
    await expect(cancelled).rejects.toMatchObject({ code: 'sql_cancelled' });
    const stop = new AbortController();
    const aborted = db.sql(long, { signal: stop.signal }).rows();
    aborted.catch(() => {});
    await expect.poll(async () => (await db.queries()).length).toBe(1);
    stop.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(async () => (await db.queries()).length).toBe(0);
  });

  test('puts a Blob, bytes, a stream and an iterable of rows, and tells how far it is', async () => {
    const csv = `n\n${Array.from({ length: 200_000 }, (_, at) => at).join('\n')}\n`;
    const bytes = new TextEncoder().encode(csv);
    const told: number[] = [];
    const onProgress = ({ sentBytes }: { sentBytes: number }) => told.push(sentBytes);
    expect((await db.put(named('blob'), new Blob([csv]), { onProgress })).rows).toBe(200_000);
    expect(told.at(-1)).toBe(bytes.length);
    expect(told.length).toBeGreaterThan(2);
    expect((await db.put(named('bytes'), bytes)).rows).toBe(200_000);
    expect((await db.put(named('stream'), new Blob([csv]).stream(), { onProgress })).rows).toBe(200_000);
    async function* rows() {
      for (let n = 0; n < 50_000; n++) yield { n, text: `row ${n}` };
    }
    const put = await db.put(named('iterable'), rows(), { types: { n: 'DOUBLE' } });
    expect(put.rows).toBe(50_000);
    expect(put.columns?.[0]).toMatchObject({ type: 'DOUBLE' });
    expect(await db.get(named('iterable'), { rows: [0, 1] }).rows()).toEqual([{ n: 0, text: 'row 0' }]);
    const bad = await db.put(named('bad'), 'a\n1\nx,y\n2\n', { skipBadRows: true });
    expect(bad).toMatchObject({ rows: 2, rejectedRows: 1, rejections: [{ line: 3 }] });
    await expect(db.put(named('bad'), [1, 2] as never)).rejects.toThrow('a row is no object');
  });

  test('refuses rows whose values are of different kinds, unless their type is named', async () => {
    const name = named('mixed');
    const mixed = [
      { n: null, a: 1 },
      { n: 2n, a: 'x' },
    ];
    async function* stream() {
      yield* mixed;
    }
    const message = 'column "a" has a number, and in row 1 a text: convert them to one kind, or name its type';
    await expect(db.put(name, mixed)).rejects.toThrow(message);
    await expect(db.put(name, stream())).rejects.toThrow(message);
    await expect(db.put(name, [{ a: { b: 1 } }, { a: true }])).rejects.toThrow('{"types":{"a":"JSON"}}');
    await expect(db.info(name)).rejects.toMatchObject({ code: 'handle_not_found' });
    await db.put(name, mixed, { types: { a: 'VARCHAR' } });
    expect((await db.get(name, { columns: ['a'] }).rows()).map(({ a }) => a)).toEqual(['1', 'x']);
    await db.put(name, stream(), { mode: 'overwrite', types: { a: 'JSON' } });
    expect((await db.get(name, { columns: ['a'] }).rows()).map(({ a }) => a)).toEqual([1, 'x']);
    // The types of the frame count.
    expect((await db.put(name, mixed, { mode: 'append' })).rows).toBe(2);
  });

  test('keeps NaN and infinity as numbers', async () => {
    const name = named('nan');
    const typesOf = async (rows: readonly { n: unknown }[]): Promise<readonly (string | undefined)[] | undefined> =>
      (await db.put(name, rows, { mode: 'overwrite' })).columns?.map(({ type }) => type);
    expect(await typesOf([{ n: Number.NaN }])).toEqual(['DOUBLE']);
    expect(await typesOf([{ n: null }, { n: 1 }, { n: Number.NEGATIVE_INFINITY }])).toEqual(['DOUBLE']);
    const counts = `SELECT count(*) FILTER (n = '-Infinity') AS infinite, sum(n) FILTER (n > 0) AS rest FROM ${name}`;
    expect(await db.sql(counts).rows()).toEqual([{ infinite: 1n, rest: 1 }]);
    await expect(typesOf([{ n: Number.NaN }, { n: 2n ** 53n + 1n }])).rejects.toThrow('a DOUBLE rounds those');
    async function* stream() {
      yield { n: Number.NaN };
    }
    const refused = db.put(name, stream(), { mode: 'overwrite' });
    await expect(refused).rejects.toThrow('{"types":{"n":"DOUBLE"}}');
    expect((await db.put(name, stream(), { mode: 'overwrite', types: { n: 'DOUBLE' } })).rows).toBe(1);
  });

  test('hints are in the words of the package', async () => {
    const name = named('hints');
    await db.put(name, [{ n: 1, m: 2, price: 3 }]);
    await expect(db.put(name, [{ n: 1 }])).rejects.toMatchObject({
      hint: "choose another handle, or say mode: 'overwrite' or mode: 'append'",
    });
    await expect(db.put(name, 'n,m,price\n1,x,1\n', { mode: 'append' })).rejects.toMatchObject({
      code: 'invalid_input',
      hint: 'correct the file, or leave such rows out with skipBadRows: true',
    });
    await expect(db.append(name).write({ n: 1, price: 2 })).rejects.toMatchObject({
      // The column "n" is there: it is not what was meant.
      message: 'these rows do not fit the frame: column "m" is missing in the rows sent',
      hint: "an append brings the same columns; mode: 'overwrite' replaces the frame",
    });
    await expect(db.append(name).write({ n: 1, m: 1, prise: 2 })).rejects.toMatchObject({
      message: 'these rows do not fit the frame: column "price" is missing in the rows sent; did you mean "prise"?',
    });
    const table: Table = tableFromArrays({ n: Int32Array.of(1) });
    await expect(db.put(name, arrowBytes(table))).rejects.toMatchObject({
      hint: "choose another handle, or say mode: 'overwrite' or mode: 'append'",
    });
    expect(() => db.frame(name).filter("n = '1'" as never)).toThrow('such as col("symbol").eq("x")');
  });

  test('a signal that stops an operation or a follower is its error', async () => {
    const name = named('stopped');
    await db.put(name, [{ n: 1 }]);
    const timely = db.get(name, { signal: AbortSignal.timeout(0) }).rows();
    await expect(timely).rejects.toMatchObject({ name: 'TimeoutError' });
    const stop = new AbortController();
    const followed: unknown[] = [];
    const following = (async () => {
      for await (const row of db.follow(name, { signal: stop.signal })) {
        followed.push(row);
        setImmediate(() => stop.abort());
      }
    })();
    await expect(following).rejects.toMatchObject({ name: 'AbortError' });
    await expect(following).rejects.toBeInstanceOf(DOMException);
    expect(followed).toEqual([{ n: 1n }]);
  });

  test('a source that fails leaves nothing, and its error comes through', async () => {
    async function* rows() {
      yield { n: 1 };
      throw new RangeError('the source failed');
    }
    await expect(db.put(named('cut'), rows())).rejects.toThrow('the source failed');
    await expect(db.info(named('cut'))).rejects.toMatchObject({ code: 'handle_not_found' });
  });

  test('puts and gets Arrow', async () => {
    const callsOverFlight = async () =>
      (await db.http.call('GET /stats', {})).server?.listeners.grpc.requests ?? Number.NaN;
    const before = await callsOverFlight();
    const table: Table = tableFromArrays({ n: Int32Array.of(1, 2, 3), s: ['a', 'b', 'c'] });
    expect(await db.put(named('arrow'), arrowBytes(table))).toMatchObject({ rows: 3, version: 1 });
    const got = await db.get(named('arrow'), { columns: ['s', 'n'], rows: [1] }).read(arrow);
    expect(got.toArray().map((row) => row.toJSON())).toEqual([
      { s: 'b', n: 2 },
      { s: 'c', n: 3 },
    ]);
    expect((await callsOverFlight()) - before).toBe(way === 'in Node' ? 2 : 0);
    let rows = 0;
    for await (const batch of await db.sql('SELECT * FROM range(300000)').read(arrowBatches)) rows += batch.numRows;
    expect(rows).toBe(300_000);
  });

  test('gives files of every format', async () => {
    await db.put(named('file'), 'a,b\n1,x\n', { mode: 'overwrite' });
    expect(await (await db.get(named('file')).bytes('csv')).text()).toBe('a,b\r\n1,x\r\n');
    expect(await (await db.sql('SELECT 1 AS a').bytes('ndjson')).text()).toBe('{"a":1}\n');
    const parquet = await (await db.get(named('file')).bytes('parquet')).blob();
    expect(await parquet.slice(0, 4).text()).toBe('PAR1');
  });
});

describe('a connection', () => {
  test('to no server says so', async () => {
    for (const [, open] of ways) {
      const error = await open('http://127.0.0.1:1')
        .server()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: 'unreachable', hint: expect.any(String) });
    }
  });

  test('to something else says so', async () => {
    const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const [, open] of ways) {
      await expect(open(url).server()).rejects.toMatchObject({ code: 'unexpected_answer' });
      await expect(open(url).sql('SELECT 1').rows()).rejects.toMatchObject({ code: 'unexpected_answer' });
    }
    other.close();
  });

  test('sends again what the server asks for by Retry-After, and no statement that may have run', async () => {
    let asked = 0;
    const busy = createServer((request, response) => {
      asked += 1;
      request.resume();
      if (asked % 2 === 0) response.end('{"queries":[],"columns":[],"dataset":[]}');
      else response.writeHead(503, { 'retry-after': '0' }).end(`{"error":"busy","code":"${code}"}`);
    }).listen(0, '127.0.0.1');
    let code = 'overloaded';
    await once(busy, 'listening');
    const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
    for (const [, open] of ways) {
      code = 'overloaded';
      expect(await open(url).queries()).toEqual([]);
      expect(await open(url).sql('INSERT …').rows()).toEqual([]);
      code = 'engine_crashed';
      expect(await open(url).queries()).toEqual([]);
      await expect(open(url).sql('INSERT …').rows()).rejects.toMatchObject({ code, retryAfter: 0, status: 503 });
      asked = 0;
    }
    busy.close();
    busy.closeAllConnections();
  });

  test('gives up when no answer begins in time', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    for (const open of [connect, connectByFetch]) {
      const late = open(url, { timeoutMs: 50 });
      await expect(late.server()).rejects.toMatchObject({ code: 'no_answer' });
    }
    silent.close();
    silent.closeAllConnections();
  });
});
