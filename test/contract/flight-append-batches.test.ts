import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import {
  Field,
  Int32,
  List,
  type RecordBatch,
  Table,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, it } from 'vitest';
import { byCommand, byPath, FlightClient, flightDataOf, gather } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';

const { server, client } = await useFlightServer(FlightClient);

const byBatch = { mode: 'append', ack: 'batch' };

/** Texts with a dictionary of their own in each batch. */
function rows(from: number, to: number): Table {
  const ids = Int32Array.from({ length: to - from }, (_, index) => from + index);
  return tableFromArrays({ id: ids, text: Array.from(ids, (id) => `row ${id}`) });
}

/** A stream of one batch for each of the tables, which have plain texts. */
function batches(...parts: readonly (readonly number[])[]): Uint8Array {
  const tables = parts.map(
    (ids) =>
      new Table({
        id: vectorFromArray([...ids], new Int32()),
        text: vectorFromArray(
          ids.map((id) => `row ${id}`),
          new Utf8(),
        ),
      }),
  );
  return tableToIPC(new Table(tables.flatMap((table) => table.batches as RecordBatch[])), 'stream');
}

async function idsOf(handle: string): Promise<unknown[]> {
  return [...((await client.getTable(handle)).getChild('id') ?? [])];
}

const acksOf = (messages: readonly { appMetadata: Buffer }[]): unknown[] =>
  messages.map(({ appMetadata }) => JSON.parse(appMetadata.toString()));

it('acknowledges each batch once it is there for everyone, while the call goes on', async () => {
  const call = client.openPut();
  const [schema, ...data] = flightDataOf(batches([0, 1], [2]));
  call.write({ ...schema, flightDescriptor: byCommand({ handle: 'live', ...byBatch }) });
  using other = new FlightClient(server.grpcAddress.port);
  for (const [index, message] of data.entries()) {
    const answered = once(call, 'data');
    call.write(message);
    expect(acksOf(await answered)).toEqual([{ seq: index, rows: 2 - index, version: index + 1 }]);
    expect((await other.getTable('live')).numRows).toBe(2 + index);
  }
  const answer = gather(call);
  call.end();
  expect((await answer).status.code).toBe(status.OK);
});

it('answers many batches in their order, and keeps their rows in it', async () => {
  const parts = Array.from({ length: 40 }, (_, index) => [3 * index, 3 * index + 1, 3 * index + 2]);
  const { status: ended, messages } = await client.put(byPath('many'), batches(...parts), { appMetadata: byBatch });
  expect(ended.code).toBe(status.OK);
  expect(messages).toMatchObject(parts.map((_, seq) => ({ seq, rows: 3 })));
  expect(await idsOf('many')).toEqual(parts.flat());
});

it('takes dictionaries, types that only the engine converts, and batches without rows', async () => {
  const coded = await client.put(byPath('coded'), tableToIPC(rows(0, 3), 'stream'), { appMetadata: byBatch });
  expect(coded.messages).toMatchObject([{ seq: 0, rows: 3, version: 1 }]);
  expect((await client.getTable('coded')).toArray().map(String)).toEqual(rows(0, 3).toArray().map(String));
  const list = new List(new Field('item', new Int32(), true));
  const nested = tableToIPC(new Table({ id: vectorFromArray([[1, 2], null, []], list) }), 'stream');
  for (const version of [1, 2]) {
    const { messages } = await client.put(byPath('nested'), nested, { appMetadata: byBatch });
    expect(messages).toMatchObject([{ seq: 0, rows: 3, version }]);
  }
  expect((await client.getTable('nested')).numRows).toBe(6);
  const empty = await client.put(byPath('many'), batches([]), { appMetadata: byBatch });
  expect(empty).toMatchObject({ status: { code: status.OK }, messages: [{ rows: 0 }] });
});

it('counts the batches of a producer from its number on', async () => {
  const headers = { 'producer-id': 'p', 'producer-epoch': '0', 'producer-seq': '0' };
  const { messages } = await client.put(byPath('counted'), batches([1], [2]), { appMetadata: byBatch, headers });
  expect(messages).toMatchObject([{ seq: 0 }, { seq: 1 }]);
  const next = { ...headers, 'producer-seq': '2' };
  const more = await client.put(byPath('counted'), batches([3]), { appMetadata: byBatch, headers: next });
  expect(more.messages).toMatchObject([{ seq: 2, rows: 1 }]);
});

it('ends with the error of a batch after the acks of those before it, which are kept', async () => {
  const call = client.openPut({ 'framehold-mode': 'append', 'framehold-ack': 'batch' });
  const answer = gather(call);
  const [schema, first, second, third] = flightDataOf(batches([1, 2], [3, 4], [5]));
  call.write({ ...schema, flightDescriptor: byPath('broken') });
  call.write({ ...first });
  // The texts are at the end, and no longer UTF-8.
  const dataBody = Buffer.from(second?.dataBody ?? []);
  dataBody.fill(0xff, dataBody.lastIndexOf('row 3'));
  call.write({ ...second, dataBody });
  // The call ends although the client does not.
  call.write({ ...third });
  const { status: ended, messages, code } = await answer;
  expect([ended.code, code]).toEqual([status.INVALID_ARGUMENT, 'invalid_input']);
  expect(acksOf(messages)).toEqual([{ seq: 0, rows: 2, version: 1 }]);
  expect(await idsOf('broken')).toEqual([1, 2]);
});

it('refuses rows that do not fit the frame, and acknowledges nothing of them', async () => {
  await client.put(byPath('fits'), batches([1]));
  const other = tableToIPC(tableFromArrays({ other: Int32Array.of(1) }), 'stream');
  expect(await client.put(byPath('fits'), other, { appMetadata: byBatch })).toMatchObject({
    code: 'schema_mismatch',
    messages: [],
  });
});

it.each([
  ['another mode', byPath('wrong'), { appMetadata: { ack: 'batch' } }],
  ['an ack that is not known', byPath('wrong'), { appMetadata: { mode: 'append', ack: 'row' } }],
  ['no handle', undefined, { appMetadata: byBatch }],
])('refuses acks by the batch with %s', async (_, descriptor, options) => {
  expect(await client.put(descriptor, batches([1]), options)).toMatchObject({ code: 'invalid_parameter' });
});
