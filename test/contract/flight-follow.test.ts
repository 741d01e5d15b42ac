import { status } from '@grpc/grpc-js';
import { tableFromIPC } from 'apache-arrow';
import { expect, it } from 'vitest';
import { byCommand, FlightClient, type FlightDataParts, gather, ipcOf } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { soon } from '../support/soon.ts';

const { server, client } = await useFlightServer(FlightClient, {
  settings: { 'server.progress_interval': '200ms' },
});

/** What has come so far of a stream that does not end. */
function follow(ticket: object, from = client) {
  const call = from.openGet(JSON.stringify(ticket));
  const messages: FlightDataParts[] = [];
  call.on('data', (message: FlightDataParts) => messages.push(message));
  return {
    ended: gather(call),
    cancel: () => call.cancel(),
    ids: () => (messages.length === 0 ? [] : Array.from(tableFromIPC(ipcOf(messages)).getChild('id')?.toArray() ?? [])),
    marks: () =>
      messages.slice(1).map(({ appMetadata }) => JSON.parse(Buffer.from(appMetadata ?? []).toString()).next as number),
    names: () => tableFromIPC(ipcOf(messages)).schema.names,
  };
}

const put = (handle: string, sql: string, mode: 'create' | 'append' | 'overwrite' = 'create') =>
  putSql(server.frames, handle, sql, { mode });

it('a follower gets the rows that are there and those that come, each batch with the number of the next row', async () => {
  await put('ticks', 'SELECT range::INT AS id, range * 2 AS twice FROM range(3)');
  const followed = follow({ handle: 'ticks', from: 1, follow: true, columns: ['id'] });
  await soon(() => expect(followed.ids()).toEqual([1, 2]));
  expect(followed.names()).toEqual(['id']);
  await put('ticks', 'SELECT 3::INT AS id, 6::BIGINT AS twice', 'append');
  await soon(() => expect(followed.ids()).toEqual([1, 2, 3]));
  expect(followed.marks()[0]).toBe(1);
  const marks = followed.marks().length;
  await soon(() => expect(followed.marks().length).toBeGreaterThan(marks + 1));
  expect(followed.marks().at(-1)).toBe(4);
  followed.cancel();
  expect((await followed.ended).status.code).toBe(status.CANCELLED);
});

it('many rows come in order, and from the end only new ones', async () => {
  await put('many', 'SELECT range::INT AS id FROM range(250000)');
  const late = follow({ handle: 'many', from: 'end', follow: true });
  await soon(() => expect(late.marks()).toContain(250_000));
  const followed = follow({ handle: 'many', follow: true });
  await soon(() => expect(followed.marks().at(-1)).toBe(250_000));
  const ids = followed.ids();
  expect([ids.length, ids.every((id, n) => id === n)]).toEqual([250_000, true]);
  await put('many', 'SELECT 250000::INT AS id', 'append');
  await soon(() => expect(late.ids()).toEqual([250_000]));
  followed.cancel();
  late.cancel();
});

it('a predicate leaves out rows', async () => {
  await put('some', 'SELECT range::INT AS id FROM range(10)');
  const followed = follow({ handle: 'some', follow: true, where: 'id % 4 = 3' });
  await soon(() => expect(followed.ids()).toEqual([3, 7]));
  await put('some', 'SELECT range::INT AS id FROM range(10, 20)', 'append');
  await soon(() => expect(followed.ids()).toEqual([3, 7, 11, 15, 19]));
  expect(followed.marks().filter((next) => next > 0)).toContain(20);
  followed.cancel();
});

it('a frame that is replaced or dropped ends its followers', async () => {
  await put('gone', 'SELECT 1::INT AS id');
  const first = follow({ handle: 'gone', follow: true });
  await soon(() => expect(first.ids()).toEqual([1]));
  await put('gone', 'SELECT 2::INT AS id', 'overwrite');
  const replaced = await first.ended;
  expect([replaced.status.code, replaced.code]).toEqual([status.NOT_FOUND, 'handle_gone']);
  const second = follow({ handle: 'gone', follow: true });
  await soon(() => expect(second.ids()).toEqual([2]));
  await ask(`${server.url}/handles/gone`, { method: 'DELETE' });
  expect((await second.ended).code).toBe('handle_gone');
  expect((await follow({ handle: 'gone', follow: true, lineage: 'x' }).ended).code).toBe('handle_gone');
});

it.each([
  ['{"handle":"ticks","follow":true,"to":3}', 'ambiguous_mode'],
  ['{"handle":"ticks","follow":"yes"}', 'invalid_parameter'],
  ['{"handle":"ticks","lineage":"x"}', 'invalid_parameter'],
  ['{"handle":"ticks","where":"id > 1"}', 'invalid_parameter'],
  ['{"handle":"ticks","follow":true,"where":"id in (select 1)"}', 'sql_forbidden'],
  ['{"handle":"ticks","follow":true,"columns":["none"]}', 'invalid_parameter'],
])('the ticket %s is refused', async (ticket, code) => {
  expect((await client.get(ticket)).code).toBe(code);
});

it('there is no FlightInfo of a stream without an end', async () => {
  expect((await client.info(byCommand('{"handle":"ticks","follow":true}'))).code).toBe('invalid_parameter');
});

it('the stop of the server ends followers at once', async () => {
  const other = await startFramehold({ settings: { 'server.shutdown_grace': '60s' } });
  await putSql(other.frames, 'ticks', 'SELECT 1::INT AS id');
  using flight = new FlightClient(other.grpcAddress.port);
  const followed = follow({ handle: 'ticks', follow: true }, flight);
  await soon(() => expect(followed.ids()).toEqual([1]));
  await other[Symbol.asyncDispose]();
  expect((await followed.ended).status.code).toBe(status.UNAVAILABLE);
});
