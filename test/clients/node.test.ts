import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { needed } from '../support/missing.ts';
import { grpcAddress } from './support/case-suite.ts';
import { type FlightSqlClient, nodeClient } from './support/node-client.ts';

const module = await needed('@lancedb/arrow-flight-sql-client', nodeClient);

// It sends statements as they are, where the other clients prepare each.
describe.skipIf(module === undefined)('@lancedb/arrow-flight-sql-client', () => {
  let server: Framehold;
  let client: FlightSqlClient;
  beforeAll(async () => {
    server = await startFramehold();
    await putSql(server.frames, 'trades', `SELECT range AS id, 'row ' || range AS text FROM range(200000)`);
    const options = { host: grpcAddress(server), username: 'somebody', password: 'secret', insecure: true };
    client = (await module?.Client.connect(options)) as FlightSqlClient;
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  const ask = async (sql: string) => (await (await client.query(sql)).collectToObjects()).map((row) => ({ ...row }));

  test('a query gives objects', async () => {
    expect(await ask(`SELECT 1 AS n, 'x' AS text, NULL::INTEGER AS none, true AS yes, 2.5::DOUBLE AS part`)).toEqual([
      { n: 1, text: 'x', none: null, yes: true, part: 2.5 },
    ]);
  });

  test('a result of many megabytes arrives whole and in order', async () => {
    const rows = await ask('SELECT * FROM trades');
    expect(rows.length).toBe(200_000);
    expect(rows.findIndex(({ id }, index) => id !== BigInt(index))).toBe(-1);
  });

  test('a query without rows gives none', async () => {
    expect(await ask('SELECT * FROM trades WHERE id < 0')).toEqual([]);
  });

  test('a mistake is told with what was meant', async () => {
    await expect(ask('SELECT texts FROM trades')).rejects.toThrow('"text"');
  });

  test('a statement that writes takes effect, once', async () => {
    await ask('CREATE TABLE made AS SELECT 7 AS n');
    await ask('INSERT INTO made VALUES (8)');
    expect(await ask('SELECT n FROM made')).toEqual([{ n: 7 }, { n: 8 }]);
  });
});
