import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { type Table, tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { expect, it } from 'vitest';
import { byCommand, byPath, FlightClient, flightDataOf, gather } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';

const { server, client } = await useFlightServer(FlightClient);

const ipcOfRows = (from: number, to: number): Uint8Array => {
  const ids = Int32Array.from({ length: to - from }, (_, index) => from + index);
  return tableToIPC(tableFromArrays({ id: ids, text: Array.from(ids, (id) => `row ${id}`) }), 'stream');
};
const valuesOf = (table: Table): unknown[][] =>
  table.toArray().map((row) => [...(row as Iterable<[string, unknown]>)].map(([, value]) => value));
const three = ipcOfRows(0, 3);

it('keeps what is put, and tells handle, rows, bytes and version when it is durable', async () => {
  const ipc = ipcOfRows(0, 5000);
  const { status: ended, messages } = await client.put(byPath('kept'), ipc);
  expect(ended.code).toBe(status.OK);
  expect(messages).toEqual([{ handle: 'kept', rows: 5000, bytes: expect.any(Number), version: 1 }]);
  using other = new FlightClient(server.grpcAddress.port);
  expect(valuesOf(await other.getTable('kept'))).toEqual(valuesOf(tableFromIPC(ipc)));
});

it.each([
  ['one part', byPath('one'), 'one'],
  ['two parts, the first of them "frames"', byPath('frames', 'two'), 'two'],
  ['a command', byCommand({ handle: 'three' }), 'three'],
])('takes the handle from a descriptor with %s', async (_, descriptor, handle) => {
  expect((await client.put(descriptor, three)).messages).toMatchObject([{ handle }]);
});

it.each([
  ['an empty path', byPath()],
  ['no descriptor', undefined],
  ['a command without a handle', byCommand({})],
])('makes a handle for %s', async (_, descriptor) => {
  const { messages } = await client.put(descriptor, three);
  expect(messages).toMatchObject([{ handle: expect.stringMatching(/^f_[0-9A-Z]{26}$/), rows: 3 }]);
});

it('overwrites and appends only when told so: by metadata, header or command', async () => {
  await client.put(byPath('modes'), three);
  expect(await client.put(byPath('modes'), three)).toMatchObject({
    status: { code: status.ALREADY_EXISTS },
    code: 'handle_exists',
  });
  const appended = await client.put(byPath('modes'), three, { appMetadata: { mode: 'append' } });
  expect(appended.messages).toMatchObject([{ rows: 6, version: 2 }]);
  const again = await client.put(byPath('modes'), three, { headers: { 'framehold-mode': 'append' } });
  expect(again.messages).toMatchObject([{ rows: 9, version: 3 }]);
  const over = await client.put(byCommand({ handle: 'modes', mode: 'overwrite' }), three, {
    headers: { 'framehold-mode': 'append' },
  });
  expect(over.messages).toMatchObject([{ rows: 3, version: 4 }]);
});

it('refuses to append other columns', async () => {
  await client.put(byPath('columns'), three);
  const other = tableToIPC(tableFromArrays({ id: Int32Array.of(1), other: ['a'] }), 'stream');
  expect(await client.put(byPath('columns'), other, { appMetadata: { mode: 'append' } })).toMatchObject({
    status: { code: status.FAILED_PRECONDITION },
    code: 'schema_mismatch',
  });
});

it.each([
  ['metadata', byPath('ttl-metadata'), { appMetadata: { ttl: '15m' } }],
  ['metadata in seconds', byPath('ttl-seconds'), { appMetadata: { ttl: 900 } }],
  ['header', byPath('ttl-header'), { headers: { 'framehold-ttl': '900' } }],
  ['command', byCommand({ handle: 'ttl-command', ttl: '900s' }), {}],
])('takes a time to live by %s', async (_, descriptor, options) => {
  const { messages } = await client.put(descriptor, three, options);
  const { handle } = messages[0] as { handle: string };
  const { messages: infos } = await client.info(byPath(handle));
  const seconds = Number(infos[0]?.endpoint[0]?.expirationTime?.seconds);
  expect(seconds * 1000 - Date.now()).toBeGreaterThan(890_000);
  expect(seconds * 1000 - Date.now()).toBeLessThan(901_000);
});

it.each([
  ['mode', byPath('wrong'), { appMetadata: { mode: 'upsert' } }, 'invalid_parameter'],
  ['key', byPath('wrong'), { appMetadata: { mod: 'append' } }, 'invalid_parameter'],
  ['time to live', byPath('wrong'), { headers: { 'framehold-ttl': 'soon' } }, 'invalid_parameter'],
  ['time to live of nothing', byPath('wrong'), { appMetadata: { ttl: 0 } }, 'invalid_parameter'],
  ['handle', byPath('.wrong'), {}, 'invalid_handle'],
  ['path', byPath('a', 'b', 'c'), {}, 'invalid_handle'],
  ['command', byCommand('{'), {}, 'invalid_parameter'],
  ['command of bytes', byCommand(Uint8Array.of(255, 254)), {}, 'invalid_parameter'],
])('refuses a wrong %s', async (_, descriptor, options, code) => {
  expect(await client.put(descriptor, three, options)).toMatchObject({
    status: { code: status.INVALID_ARGUMENT },
    code,
  });
});

it('reads over messages that carry metadata only, and later descriptors', async () => {
  const call = client.openPut();
  const answer = gather(call);
  call.write({ flightDescriptor: byPath('metadata') });
  const [schema, ...rest] = flightDataOf(three);
  call.write({ ...schema });
  for (const message of rest) {
    call.write({ appMetadata: Buffer.from('anything') });
    call.write({ ...message, flightDescriptor: byPath('elsewhere') });
  }
  call.end();
  expect((await answer).status.code).toBe(status.OK);
  expect((await client.getTable('metadata')).numRows).toBe(3);
  expect((await client.get('elsewhere')).code).toBe('handle_not_found');
});

it('keeps a frame of no rows', async () => {
  const [schema] = flightDataOf(three);
  const call = client.openPut();
  const answer = gather(call);
  call.end({ ...schema, flightDescriptor: byPath('no-rows') });
  expect((await answer).status.code).toBe(status.OK);
  const { messages } = await client.get('no-rows');
  expect(messages).toHaveLength(1);
  expect((await client.getTable('no-rows')).schema.fields.map(({ name }) => name)).toEqual(['id', 'text']);
});

it('acknowledges nothing before the upload has ended', async () => {
  const call = client.openPut();
  const answer = gather(call);
  const [schema, ...rest] = flightDataOf(three);
  call.write({ ...schema, flightDescriptor: byPath('unended') });
  for (const message of rest) call.write(message);
  const early = await Promise.race([once(call, 'data').then(() => 'early'), pause(300)]);
  expect(early).toBe('in time');
  expect((await client.get('unended')).code).toBe('handle_not_found');
  call.end();
  expect((await answer).messages).toHaveLength(1);
});

it('refuses a taken handle without waiting for the upload', async () => {
  await client.put(byPath('taken'), three);
  const call = client.openPut();
  const answer = gather(call);
  const [schema, ...dictionariesAndBatch] = flightDataOf(three);
  call.write({ ...schema, flightDescriptor: byPath('taken') });
  for (const message of dictionariesAndBatch) call.write(message);
  expect(await answer).toMatchObject({ status: { code: status.ALREADY_EXISTS }, code: 'handle_exists' });
});

function pause(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'in time'));
}
