import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, it } from 'vitest';
import { byCommand, byPath, FlightClient } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { putSql } from '../support/frames.ts';

const rows = 100_000;

const { server, client } = await useFlightServer(FlightClient);
beforeAll(async () => {
  await putSql(
    server.frames,
    'trades',
    `SELECT range::INTEGER AS id, range / 100 AS price, 'symbol ' || range % 10 AS symbol FROM range(${rows})`,
  );
});

const idsOf = async (ticket: object | string): Promise<number[]> => {
  const table = await client.getTable(typeof ticket === 'string' ? ticket : JSON.stringify(ticket));
  return Array.from(table.getChild('id')?.toArray() as Int32Array);
};
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

describe('a download', () => {
  it.each(['trades', 'frames/trades', '{"handle":"trades"}'])(
    'has every row in order for the ticket %s',
    async (ticket) => {
      expect(await idsOf(ticket)).toEqual(numbers(0, rows));
    },
  );

  it('of an endpoint has the schema and the rows that the flight promised', async () => {
    const { messages: infos } = await client.info(byPath('trades'));
    const [info] = infos;
    const ticket = info?.endpoint[0]?.ticket.ticket ?? '';
    const table = await client.getTable(ticket);
    expect(table.numRows).toBe(info?.totalRecords);
    expect(String(table.schema)).toBe(String(tableFromIPC(info?.schema).schema));
  });

  it('begins with the schema alone, and aligns the bodies of its batches', async () => {
    const { messages } = await client.get('trades');
    const [first, ...batches] = messages;
    expect(first?.dataBody).toHaveLength(0);
    expect(batches.length).toBeGreaterThan(1);
    // Tag and length of header and body: 1 + 2 bytes and 2 + 3.
    for (const { dataHeader, dataBody } of batches.slice(0, -1)) {
      expect((8 + (dataHeader?.length ?? 0)) % 64).toBe(0);
      expect((dataBody?.length ?? 0) % 8).toBe(0);
      expect(dataBody?.length).toBeLessThan(4 * 1024 * 1024);
    }
  });

  it('of some columns has them in the order asked for', async () => {
    const table = await client.getTable('{"handle":"trades","columns":["symbol","id"],"from":5,"to":8}');
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['symbol', 'id']);
    expect(table.toArray().map(String)).toEqual([5, 6, 7].map((id) => `{"symbol": "symbol ${id}", "id": ${id}}`));
  });

  it.each([
    [0, 0],
    [0, 1],
    [3, 4100],
    [65_530, 65_540],
    [99_990, 200_000],
    [200_000, 300_000],
  ])('of rows %d to %d has these', async (from, to) => {
    expect(await idsOf({ handle: 'trades', from, to })).toEqual(numbers(Math.min(from, rows), Math.min(to, rows)));
  });

  it('from a row on goes to the end', async () => {
    expect(await idsOf({ handle: 'trades', from: rows - 3 })).toEqual(numbers(rows - 3, rows));
  });

  it('of a version is refused when the frame is at another', async () => {
    expect(await idsOf({ handle: 'trades', version: 1, to: 1 })).toEqual([0]);
    expect(await client.get('{"handle":"trades","version":2}')).toMatchObject({
      status: { code: status.NOT_FOUND },
      code: 'handle_gone',
    });
  });

  it.each([
    ['an unknown handle', 'nobody', status.NOT_FOUND, 'handle_not_found'],
    ['an unknown column', '{"handle":"trades","columns":["prise"]}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['no columns', '{"handle":"trades","columns":[]}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['a negative row', '{"handle":"trades","from":-1}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    [
      'a range that ends before it begins',
      '{"handle":"trades","from":2,"to":1}',
      status.INVALID_ARGUMENT,
      'invalid_parameter',
    ],
    ['an unknown key', '{"handle":"trades","limit":1}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['no handle', '{}', status.INVALID_ARGUMENT, 'missing_parameter'],
    ['both handle and SQL', '{"handle":"trades","sql":"select 1"}', status.INVALID_ARGUMENT, 'ambiguous_mode'],
    ['a key given twice', '{"handle":"trades","handle":"types"}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['a row beyond 2^53', '{"handle":"trades","from":9007199254740993}', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['half an object', '{"handle":', status.INVALID_ARGUMENT, 'invalid_parameter'],
    ['what is no handle', '-trades', status.INVALID_ARGUMENT, 'invalid_handle'],
    ['a path of no handle', 'frames/', status.INVALID_ARGUMENT, 'invalid_handle'],
    ['nothing', '', status.INVALID_ARGUMENT, 'missing_parameter'],
    ['bytes that are no text', '\0\x01', status.INVALID_ARGUMENT, 'invalid_parameter'],
  ])('of %s is refused', async (_, ticket, code, name) => {
    expect(await client.get(ticket)).toMatchObject({ status: { code }, code: name, messages: [] });
  });

  it('names the column that was meant', async () => {
    const { status: ended } = await client.get('{"handle":"trades","columns":["prise"]}');
    expect(ended.details).toContain('column "prise" not found in trades; did you mean price?');
  });

  it('that is cancelled in the middle leaves the server to serve on', async () => {
    for (let time = 0; time < 5; time++) {
      const call = client.openGet('trades');
      await once(call, 'data');
      const ended = new Promise((resolve) => call.on('status', resolve));
      call.cancel();
      expect(await ended).toMatchObject({ code: status.CANCELLED });
    }
    expect(await idsOf({ handle: 'trades', to: 3 })).toEqual([0, 1, 2]);
  });

  it('is the same for many readers at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => client.getTable('trades')));
    for (const table of all) expect(table.numRows).toBe(rows);
  });
});

describe('the description of a flight', () => {
  it('tells of one endpoint, without a location', async () => {
    const { messages } = await client.info(byPath('frames', 'trades'));
    const [info] = messages;
    expect(info).toMatchObject({
      totalRecords: rows,
      ordered: true,
      flightDescriptor: { type: 'PATH', path: ['frames', 'trades'] },
      endpoint: [{ location: [], expirationTime: null }],
    });
    expect(info?.totalBytes).toBeGreaterThan(0);
    expect(JSON.parse(String(info?.appMetadata))).toEqual({ handle: 'trades', version: 1 });
    expect(info?.schema.readUInt32LE(0)).toBe(0xffff_ffff);
  });

  it('of a selection counts its rows, and its ticket selects', async () => {
    const command = { handle: 'trades', columns: ['id'], from: 10, to: 20 };
    const { messages } = await client.info(byCommand(command));
    const [info] = messages;
    expect(info).toMatchObject({ totalRecords: 10, totalBytes: -1, flightDescriptor: { type: 'CMD' } });
    expect(String(info?.flightDescriptor.cmd)).toBe(JSON.stringify(command));
    expect(tableFromIPC(info?.schema).schema.names).toEqual(['id']);
    const table = await client.getTable(info?.endpoint[0]?.ticket.ticket ?? '');
    expect(Array.from(table.getChild('id')?.toArray() as Int32Array)).toEqual(numbers(10, 20));
  });

  it('of the schema alone is the same', async () => {
    const { messages } = await client.schema(byPath('trades'));
    expect(tableFromIPC(messages[0]?.schema).schema.names).toEqual(['id', 'price', 'symbol']);
    const selected = await client.schema(byCommand({ handle: 'trades', columns: ['price'] }));
    expect(tableFromIPC(selected.messages[0]?.schema).schema.names).toEqual(['price']);
  });

  it.each([
    ['of an unknown handle', byPath('nobody'), status.NOT_FOUND, 'handle_not_found'],
    ['of nothing', byPath(), status.INVALID_ARGUMENT, 'missing_parameter'],
    ['of a long path', byPath('a', 'b', 'c'), status.INVALID_ARGUMENT, 'invalid_handle'],
    [
      'of an unknown column',
      byCommand({ handle: 'trades', columns: ['x'] }),
      status.INVALID_ARGUMENT,
      'invalid_parameter',
    ],
    ['by bytes that mean nothing', byCommand(Uint8Array.of(1, 2, 3)), status.INVALID_ARGUMENT, 'invalid_parameter'],
  ])('%s is refused', async (_, descriptor, code, name) => {
    expect(await client.info(descriptor)).toMatchObject({ status: { code }, code: name });
    expect(await client.schema(descriptor)).toMatchObject({ status: { code }, code: name });
  });

  it('does not count as a read', async () => {
    await putSql(server.frames, 'brief', 'SELECT 1 AS one', { ttlMs: 600 });
    const before = (await client.info(byPath('brief'))).messages[0]?.endpoint[0]?.expirationTime;
    const after = (await client.info(byPath('brief'))).messages[0]?.endpoint[0]?.expirationTime;
    expect(after).toEqual(before);
    await expect.poll(async () => (await client.info(byPath('brief'))).code, { timeout: 3000 }).toBe('handle_gone');
  });
});

it('what is not offered says so', async () => {
  expect(await client.poll(byPath('trades'))).toMatchObject({ status: { code: status.UNIMPLEMENTED } });
  expect(await client.exchange()).toMatchObject({ status: { code: status.UNIMPLEMENTED } });
});
