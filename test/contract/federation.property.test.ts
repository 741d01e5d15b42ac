import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type LiveQuestDb, postSql, startLiveQuestDb } from '../support/live-questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { sized } from '../support/suite-size.ts';

/** What a parser may stumble over, and what compares in another way by language or case. */
const symbols = [
  ...['BTC', 'btc', 'ETH', "it's", "''", 'a"b', '"', 'x\\y', "\\'", 'NULL', 'null', '2026-01-01', 'ä', 'ß', 'ss', '😀'],
  ...['a b', ' BTC', 'BTC ', '%', '--', '/*', ';', '$1', '?', "') or ('1'='1", 'İ', 'ı', ''],
];
const start = Date.UTC(2026, 0, 1);

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const iso = (us: number): string =>
  `${new Date(start + Math.floor(us / 1000)).toISOString().slice(0, -1)}${String(us % 1000).padStart(3, '0')}`;

/** Of the table `live`, which stands for the live table, or for a frame with the same rows. */
const statements = (live: string, quotes: string): readonly string[] => {
  const conditions = [
    'true',
    "t.symbol = 'BTC'",
    "t.symbol IN ('ETH', 'it''s', NULL)",
    "t.ts >= '2026-01-01 00:00:10' AND t.ts < TIMESTAMP '2026-01-01 00:00:20'",
    "t.ts BETWEEN '2026-01-01 00:00:10' AND '2026-01-01T00:00:12.5Z' AND (t.symbol = 'BTC' OR t.symbol = 'ETH')",
    "t.ts <= DATE '2026-01-01' OR t.symbol = 'ß'",
    "t.symbol IS NULL AND t.ts > '2026-01-01 00:00:05'",
  ];
  const queries = [
    (where: string) => `SELECT t.* FROM ${live} t WHERE ${where}`,
    (where: string) => `SELECT count(*), count(t.symbol), min(t.ts), max(t.price) FROM ${live} t WHERE ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p JOIN ${live} t ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p LEFT JOIN ${live} t ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p LEFT JOIN ${live} t ON p.symbol = t.symbol AND ${where}`,
    (where: string) => `SELECT p.id, t.n FROM ${live} t LEFT JOIN positions p ON p.symbol = t.symbol AND ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p RIGHT JOIN ${live} t ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p RIGHT JOIN ${live} t ON p.symbol = t.symbol AND ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p FULL JOIN ${live} t ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) => `SELECT p.id, t.n FROM positions p FULL JOIN ${live} t ON p.symbol = t.symbol AND ${where}`,
    (where: string) =>
      `SELECT p.id, t.n FROM positions p ASOF JOIN ${live} t ON p.symbol = t.symbol AND p.seen >= t.ts WHERE ${where}`,
    (where: string) =>
      `SELECT p.id, t.n FROM positions p ASOF LEFT JOIN ${live} t ON p.symbol = t.symbol AND p.seen >= t.ts WHERE ${where}`,
    (where: string) =>
      `SELECT p.id, t.n FROM ${live} t ASOF JOIN positions p ON p.symbol = t.symbol AND t.ts >= p.seen WHERE ${where}`,
    (where: string) =>
      `SELECT p.id, t.n FROM positions p ASOF JOIN (SELECT * FROM ${live} t WHERE ${where}) t ON p.symbol = t.symbol AND p.seen >= t.ts`,
    (where: string) => `SELECT t.n FROM ${live} t SEMI JOIN positions p ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) => `SELECT t.n FROM ${live} t ANTI JOIN positions p ON p.symbol = t.symbol WHERE ${where}`,
    (where: string) =>
      `SELECT id FROM positions p WHERE EXISTS (SELECT 1 FROM ${live} t WHERE t.symbol = p.symbol AND ${where})`,
    (where: string) =>
      `SELECT id, (SELECT max(n) FROM ${live} t WHERE t.symbol = p.symbol AND ${where}) FROM positions p`,
    (where: string) =>
      `SELECT t.n, q.n FROM ${live} t JOIN ${quotes} q ON t.symbol = q.symbol AND t.ts = q.ts WHERE ${where}`,
    (where: string) =>
      `SELECT t.n, u.n FROM ${live} t JOIN ${live} u ON t.n = u.n + 1 WHERE ${where} AND u.symbol = 'ETH'`,
    (where: string) =>
      `SELECT t.n FROM ${live} t WHERE ${where} UNION ALL SELECT t.n FROM ${live} t WHERE t.symbol = 'ä'`,
    (where: string) =>
      `WITH c AS (SELECT symbol AS s, n FROM ${live} t WHERE ${where}) SELECT s, sum(n)::BIGINT FROM c GROUP BY ALL`,
    (where: string) =>
      `SELECT symbol, n, row_number() OVER (PARTITION BY symbol ORDER BY ts, n) FROM ${live} t WHERE ${where} QUALIFY row_number() OVER (ORDER BY n) < 50`,
    (where: string) => `SELECT DISTINCT symbol FROM ${live} t WHERE ${where} ORDER BY symbol LIMIT 5`,
    (where: string) => `SELECT n FROM ${live} t WHERE ${where} ORDER BY ts DESC, n LIMIT 7`,
    (where: string) => `SELECT price AS symbol FROM ${live} t WHERE ${where} AND symbol <> 'x'`,
    (where: string) => `SELECT symbol FROM positions JOIN ${live} t USING (symbol) WHERE ${where} AND symbol > 'A'`,
    (where: string) =>
      `SELECT n FROM (SELECT n, symbol FROM ${live}) t JOIN (SELECT ts, n AS m FROM ${live}) u ON t.n = u.m, LATERAL (SELECT t.n + 1 AS k) WHERE ${where.replaceAll('t.ts', 'u.ts')}`,
    (where: string) => `SELECT CASE WHEN ${where} THEN n END FROM ${live} t`,
    (where: string) => `SELECT count(*) FILTER (WHERE ${where}) FROM ${live} t`,
  ];
  return queries.flatMap((query) => conditions.map(query));
};

const seconds = fc.integer({ min: -5_000_000, max: 45_000_000 }).map((us) => Math.max(0, us));
const literal = seconds.chain((us) => {
  const text = iso(us);
  return fc.constantFrom(
    `'${text}'`,
    `TIMESTAMP '${text}'`,
    `'${text}Z'`,
    `'${text.replace('T', ' ')}'`,
    `'${text}'::TIMESTAMP_NS`,
    "DATE '2026-01-01'",
    `'${text.slice(0, 19)}'`,
    `'${text}+01'`,
  );
});
const symbolCondition = fc.oneof(
  fc.constantFrom(...symbols).map((text) => `symbol = ${quoted(text)}`),
  fc.constantFrom(...symbols).map((text) => `${quoted(text)} = t.symbol`),
  fc
    .array(fc.constantFrom(...symbols), { minLength: 1, maxLength: 5 })
    .map((list) => `symbol IN (${list.map(quoted).join(', ')})`),
  fc
    .array(fc.constantFrom(...symbols), { minLength: 2, maxLength: 4 })
    .map((list) => `(${list.map((text) => `t.symbol = ${quoted(text)}`).join(' OR ')})`),
  fc.constantFrom(...symbols).map((text) => `symbol >= ${quoted(text)}`),
  fc.constantFrom('symbol IS NULL', 'symbol = NULL', "symbol = 'BTC' COLLATE NOCASE"),
);
const timeCondition = fc.oneof(
  fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '='), literal).map(([operator, at]) => `t.ts ${operator} ${at}`),
  fc
    .tuple(literal, fc.constantFrom('<', '<=', '>', '>=', '='), literal)
    .map(([at, operator]) => `${at} ${operator} ts`),
  fc.tuple(literal, literal).map(([from, to]) => `ts BETWEEN ${from} AND ${to}`),
);
const condition: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    symbolCondition,
    timeCondition,
    fc.tuple(tie('any'), tie('any')).map((both) => `(${both.join(' AND ')})`),
    fc.tuple(tie('any'), tie('any')).map((both) => `(${both.join(' OR ')})`),
    tie('any').map((each) => `NOT ${each}`),
  ),
})).any;
const shape = fc.constantFrom(
  'SELECT n, symbol FROM LIVE t WHERE COND',
  'SELECT * FROM LIVE t WHERE COND ORDER BY ts, n',
  'SELECT n FROM LIVE t WHERE COND ORDER BY n LIMIT 3',
  'SELECT p.id, t.n FROM positions p LEFT JOIN LIVE t ON p.symbol = t.symbol WHERE COND',
  'SELECT p.id, t.n FROM positions p FULL JOIN LIVE t ON p.symbol = t.symbol AND (COND)',
  'SELECT count(*) FROM LIVE t WHERE COND',
);

describe.skipIf(await questdbUnavailable())(
  'a statement over live tables gives the rows that it gives over frames with their rows:',
  () => {
    let questdb: LiveQuestDb;
    let server: Framehold;

    beforeAll(async () => {
      questdb = await startLiveQuestDb();
      for (const [table, count, stepUs] of [
        ['trades', 600, 70_001],
        ['quotes', 200, 140_002],
      ] as const) {
        const rows = Array.from({ length: count }, (_, n) => {
          const symbol = n % 29 === 28 ? 'null' : quoted(symbols[n % symbols.length] ?? '');
          return `('${iso(Math.floor(n / 2) * 2 * stepUs)}Z', ${symbol}, ${n}, ${n / 4})`;
        });
        await questdb.run(
          `create table ${table} (ts timestamp, symbol symbol, n long, price double) timestamp(ts) partition by hour wal`,
        );
        for (let at = 0; at < count; at += 100)
          await questdb.run(`insert into ${table} values ${rows.slice(at, at + 100).join(', ')}`);
      }
      server = await startFramehold({ settings: { 'tsdb.http_url': questdb.url, 'sql.workers': '2' } });
      const values = symbols.map(
        (symbol, id) => `(${id}, ${quoted(symbol)}, TIMESTAMP '2026-01-01' + INTERVAL ${id * 1500} MILLISECOND)`,
      );
      await putSql(
        server.frames,
        'positions',
        `SELECT * FROM (VALUES ${values.join(', ')}, (100, NULL, NULL)) AS p(id, symbol, seen)`,
      );
      for (const table of ['trades', 'quotes']) {
        expect((await postSql(server.url, `CREATE TABLE ${table} AS SELECT * FROM tsdb.${table}`)).status).toBe(200);
      }
    }, 120_000);
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
      await questdb?.[Symbol.asyncDispose]();
    });

    const answer = async (sql: string): Promise<unknown> => {
      const { status, text } = await postSql(server.url, sql);
      const { dataset, error } = JSON.parse(text) as { dataset?: unknown[][]; error?: string };
      return status === 200 ? dataset?.map((row) => JSON.stringify(row)).sort() : error?.replaceAll(/tsdb\.|"/g, '');
    };

    test('two hundred of them', { timeout: 300_000 }, async () => {
      const overLive = statements('tsdb.trades', 'tsdb.quotes');
      const overFrames = statements('frames.trades', 'frames.quotes');
      expect(overLive.length).toBeGreaterThan(200);
      for (const [index, sql] of overLive.entries()) {
        const [here, there] = await Promise.all([answer(sql), answer(overFrames[index] ?? '')]);
        expect([sql, here]).toEqual([sql, there]);
      }
    });

    test('any conditions', { timeout: 600_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(shape, condition, async (text, where) => {
          const written = text.includes('positions')
            ? where.replaceAll(/(?<![.\w'])(symbol|ts)(?=\s)/g, 't.$1')
            : where;
          const over = (table: string): string => text.replace('LIVE', table).replace('COND', written);
          const [here, there] = await Promise.all([answer(over('tsdb.trades')), answer(over('frames.trades'))]);
          expect(here).toEqual(there);
        }),
        { numRuns: sized(40, 1_000) },
      );
    });
  },
);
