import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { byPath, FlightClient } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

const { server, client } = await useFlightServer(FlightClient);

const producer = { 'producer-id': 'loader', 'producer-epoch': '0', 'producer-seq': '0' };
const csv = 'id\n1\n';
const ipc = tableToIPC(tableFromArrays({ id: BigInt64Array.of(1n) }), 'stream');

function sql(body: object, headers: Record<string, string>) {
  return ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify(body), headers });
}

describe('an append with a producer is kept', () => {
  test('by /imp', async () => {
    await importRaw(server, 'name=imp', csv);
    const answer = await importRaw(server, 'name=imp&append=true', csv, producer);
    expect(answer.json()).toMatchObject({ version: 2, rowsImported: 1 });
  });

  test('by INSERT, and by keep with the mode append', async () => {
    await importRaw(server, 'name=sql', csv);
    expect((await sql({ sql: 'INSERT INTO sql VALUES (2)' }, producer)).json()).toMatchObject({
      dml: 'OK',
      updated: 1,
    });
    const keep = { handle: 'sql', mode: 'append' };
    const next = { ...producer, 'producer-seq': '1' };
    expect((await sql({ sql: 'SELECT 3::BIGINT AS id', keep }, next)).json()).toMatchObject({ rows: 3 });
  });

  test('by DoPut', async () => {
    await client.put(byPath('put'), ipc);
    const { messages } = await client.put(byPath('put'), ipc, { headers: { 'framehold-mode': 'append', ...producer } });
    expect(messages).toMatchObject([{ rows: 2, version: 2 }]);
  });
});

test('a producer of which a part is missing or wrong is refused by every door', async () => {
  for (const headers of [{ 'producer-id': 'a' }, { ...producer, 'producer-seq': '-1' }]) {
    expect((await importRaw(server, 'name=none&append=true', csv, headers)).status).toBe(400);
    expect((await sql({ sql: 'INSERT INTO none VALUES (2)' }, headers)).status).toBe(400);
    const put = await client.put(byPath('none'), ipc, { headers: { 'framehold-mode': 'append', ...headers } });
    expect(put.status.code).toBe(status.INVALID_ARGUMENT);
  }
});

test('a producer is refused where nothing is appended', async () => {
  const refusals = [
    await importRaw(server, 'name=other', csv, producer),
    await sql({ sql: 'SELECT 1' }, producer),
    await sql({ sql: 'CREATE TABLE other AS SELECT 1 AS id' }, producer),
    await sql({ sql: 'SELECT 1 AS id', keep: { handle: 'other' } }, producer),
  ];
  expect(refusals.map((answer) => [answer.status, (answer.json() as { code: string }).code])).toEqual(
    refusals.map(() => [400, 'invalid_parameter']),
  );
  expect((await client.put(byPath('other'), ipc, { headers: producer })).code).toBe('invalid_parameter');
  expect((await ask(`${server.url}/handles/other`)).status).toBe(404);
});
