import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { byCommand, flightDataOf, gather } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { any, type FieldValue, FlightSqlClient, proto } from '../support/flight-sql-client.ts';

const { server, client } = await useFlightServer(FlightSqlClient);

const rows = (...ids: number[]): Uint8Array => tableToIPC(tableFromArrays({ id: Int32Array.from(ids) }), 'stream');
/** if_not_exist (CREATE 1, FAIL 2) and if_exists (FAIL 1, APPEND 2, REPLACE 3). */
const modes = { create: [1, 1], append: [2, 2], replace: [1, 3], createAppend: [1, 2] } as const;
const definition = ([absent, present]: readonly number[]): FieldValue => [
  1,
  proto([1, absent ?? 0], [2, present ?? 0]),
];

const ingest = (table: string, mode: keyof typeof modes, ipc: Uint8Array, ...more: FieldValue[]): Promise<number> =>
  client.update('CommandStatementIngest', [definition(modes[mode]), [2, table], ...more], ipc);
const idsOf = async (table: string) => (await client.query(`select id from ${table}`)).map(({ id }) => id);

test('the four modes make, extend and replace a frame, and count the rows that came', async () => {
  expect(await ingest('i', 'create', rows(1, 2))).toBe(2);
  await expect(ingest('i', 'create', rows(9))).rejects.toMatchObject({
    code: 'handle_exists',
    status: status.ALREADY_EXISTS,
  });
  expect(await ingest('i', 'append', rows(3))).toBe(1);
  expect(await idsOf('i')).toEqual([1, 2, 3]);
  expect(await ingest('i', 'createAppend', rows(4, 5, 6))).toBe(3);
  expect(await idsOf('i')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await ingest('i', 'replace', rows(7))).toBe(1);
  expect(await idsOf('i')).toEqual([7]);
});

test('only append needs the frame to be there', async () => {
  await expect(ingest('absent', 'append', rows(1))).rejects.toMatchObject({
    code: 'handle_not_found',
    status: status.NOT_FOUND,
  });
  expect(await ingest('absent1', 'createAppend', rows(1))).toBe(1);
  expect(await ingest('absent2', 'replace', rows(1))).toBe(1);
});

test('an empty table is a frame of no rows', async () => {
  expect(await ingest('empty', 'create', rows())).toBe(0);
  expect(await idsOf('empty')).toEqual([]);
});

test('many batches count together', async () => {
  const table = tableFromArrays({ id: new Int32Array(1000) });
  expect(await ingest('batches', 'create', tableToIPC(table.concat(table, table), 'stream'))).toBe(3000);
});

test('ingest and INSERT take a producer where they append, and nowhere else', async () => {
  const producer = { 'producer-id': 'loader', 'producer-epoch': '0', 'producer-seq': '0' };
  using marked = new FlightSqlClient(server.grpcAddress.port, producer);
  const ingested = (mode: keyof typeof modes): Promise<number> =>
    marked.update('CommandStatementIngest', [definition(modes[mode]), [2, 'marked']], rows(2));
  await ingest('marked', 'create', rows(1));
  expect(await ingested('append')).toBe(1);
  expect(await idsOf('marked')).toEqual([1, 2]);
  await expect(ingested('replace')).rejects.toMatchObject({ code: 'invalid_parameter' });
  const update = (sql: string): Promise<number> => marked.update('CommandStatementUpdate', [[1, sql]]);
  await expect(update('DROP TABLE marked')).rejects.toMatchObject({ code: 'invalid_parameter' });
  await ingest('marked2', 'create', rows(1));
  expect(await update('INSERT INTO marked2 VALUES (2)')).toBe(1);
});

test('a name means the frame that is there in another case', async () => {
  await ingest('Cased', 'create', rows(1));
  expect(await ingest('cased', 'append', rows(2))).toBe(1);
  expect(await idsOf('CASED')).toEqual([1, 2]);
});

test('the frames have one place', async () => {
  expect(await ingest('placed', 'create', rows(1), [3, 'frames'], [4, 'framehold'])).toBe(1);
  expect(await ingest('placed', 'append', rows(2), [3, ''], [4, ''])).toBe(1);
  await expect(ingest('p', 'create', rows(1), [3, 'public'])).rejects.toThrow('there is no schema "public"');
  await expect(ingest('p', 'create', rows(1), [4, 'other'])).rejects.toThrow('there is no catalog "other"');
  await expect(ingest('p', 'create', rows(1), [4, 'analytics'])).rejects.toMatchObject({ code: 'sql_forbidden' });
});

test.each([
  ['no options', []],
  ['an unspecified if_not_exist', [definition([0, 1])]],
  ['an unspecified if_exists', [definition([1, 0])]],
])('%s is refused', async (_, fields) => {
  const command: FieldValue[] = [...(fields as FieldValue[]), [2, 'unspecified']];
  await expect(client.update('CommandStatementIngest', command, rows(1))).rejects.toMatchObject({
    code: 'invalid_parameter',
    message: expect.stringContaining('is not specified'),
  });
});

test('what we cannot do is refused, not left out', async () => {
  await expect(ingest('tmp', 'create', rows(1), [5, true])).rejects.toThrow('cannot be temporary');
  await expect(ingest('.bad', 'create', rows(1))).rejects.toMatchObject({ code: 'invalid_handle' });
  const option: FieldValue = [1000, proto([1, 'compression'], [2, 'zstd'])];
  await expect(ingest('opt', 'create', rows(1), option)).rejects.toThrow('there is no ingest option "compression"');
  await expect(ingest('gone', 'create', rows(1), [6, Buffer.from('none')])).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('the option ttl gives the frame a time to live', async () => {
  await ingest('short', 'create', rows(1), [1000, proto([1, 'ttl'], [2, '15m'])]);
  const frame = await server.frames.describe(anonymous, parseHandle('short'), { signal: AbortSignal.timeout(5000) });
  expect(frame).toMatchObject({ expiresAt: expect.any(Number) });
});

test('rows that do not fit are refused', async () => {
  await ingest('typed', 'create', rows(1));
  const other = tableToIPC(tableFromArrays({ other: Int32Array.of(1) }), 'stream');
  await expect(ingest('typed', 'append', other)).rejects.toMatchObject({ code: 'schema_mismatch' });
});

test('what was ingested in a transaction cannot be rolled back', async () => {
  const transaction = await client.begin();
  await ingest('intx', 'create', rows(1, 2), [6, transaction]);
  await expect(client.end(transaction, 'rollback')).rejects.toThrow('2 rows ingested into intx');
  await client.end(transaction, 'commit');
});

test('a body that poses as the head of a message, with thousands of small messages behind it, is refused', async () => {
  const call = client.flight.openPut();
  const answer = gather(call);
  const [schema, batch] = flightDataOf(rows(1));
  const posing = Buffer.alloc(8_000_000);
  posing.writeUInt32LE(0xffff_ffff, 0);
  posing.writeUInt32LE(16_000_000, 4);
  const command = any('CommandStatementIngest', definition(modes.create), [2, 'posing']);
  call.write({ ...schema, flightDescriptor: byCommand(command) });
  call.write({ dataHeader: batch?.dataHeader, dataBody: Buffer.concat([batch?.dataBody ?? Buffer.alloc(0), posing]) });
  for (let n = 0; n < 20_000; n++) call.write({ dataHeader: Buffer.of(0) });
  call.end();
  expect((await answer).status.code).toBe(status.INVALID_ARGUMENT);
});
