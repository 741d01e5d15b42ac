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

let frames = 0;

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

/** Appends one row with the number of its producer, by each door. */
const doors: Readonly<Record<string, (handle: string, headers: Record<string, string>) => Promise<object>>> = {
  'CSV by /imp': async (handle, headers) =>
    (await importRaw(server, `name=${handle}&append=true`, csv, headers)).json() as object,
  'Arrow by /imp': async (handle, headers) =>
    (await importRaw(server, `name=${handle}&append=true`, ipc, headers)).json() as object,
  INSERT: async (handle, headers) => (await sql({ sql: `INSERT INTO ${handle} VALUES (1)` }, headers)).json() as object,
  DoPut: async (handle, headers) => {
    const { messages, code } = await client.put(byPath(handle), ipc, {
      headers: { 'framehold-mode': 'append', ...headers },
    });
    return messages[0] ?? { code };
  },
  'DoPut with acks by the batch': async (handle, headers) => {
    const options = { headers, appMetadata: { mode: 'append', ack: 'batch' } };
    const { messages, code } = await client.put(byPath(handle), ipc, options);
    return messages[0] ?? { code };
  },
};

test.each(Object.entries(doors))('by %s, what is sent again is acknowledged again and not added', async (_, append) => {
  const handle = `again${++frames}`;
  const rows = async (): Promise<unknown> =>
    ((await ask(`${server.url}/handles/${handle}`)).json() as { rows: number }).rows;
  await importRaw(server, `name=${handle}`, csv);
  expect(await append(handle, producer)).not.toHaveProperty('repeated');
  expect(await append(handle, producer)).toMatchObject({ repeated: true });
  expect(await rows()).toBe(2);
  expect(await append(handle, { ...producer, 'producer-seq': '2' })).toMatchObject({ code: 'producer_gap' });
  const later = { ...producer, 'producer-epoch': '1' };
  expect(await append(handle, later)).not.toHaveProperty('repeated');
  expect(await append(handle, producer)).toMatchObject({ code: 'producer_fenced' });
  expect(await rows()).toBe(3);
});

test('an upload that broke off is sent again whole: its batches that were kept are not added again', async () => {
  const batch = (id: bigint) => tableFromArrays({ id: BigInt64Array.of(id) });
  const two = tableToIPC(batch(1n).concat(batch(2n)), 'stream');
  const four = tableToIPC(batch(1n).concat(batch(2n), batch(3n), batch(4n)), 'stream');
  const options = { headers: producer, appMetadata: { mode: 'append', ack: 'batch' } };
  await client.put(byPath('whole'), two, options);
  const { messages } = await client.put(byPath('whole'), four, options);
  expect(messages.map((message) => 'repeated' in message)).toEqual([true, true, false, false]);
  expect([...((await client.getTable('whole')).getChild('id') ?? [])]).toEqual([1n, 2n, 3n, 4n]);
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
