import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { tableFromIPC } from 'apache-arrow';
import { expect, it } from 'vitest';
import { byPath, FlightClient } from '../support/flight-client.ts';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';

const handlesOf = async (client: FlightClient, prefix?: string): Promise<string[]> => {
  const { messages } = await client.list(prefix);
  return messages.map(({ flightDescriptor }) => flightDescriptor.path.join('/'));
};

it('lists every frame in order of handles, or those that begin as asked', async () => {
  await using server = await startFramehold();
  using client = new FlightClient(server.grpcAddress.port);
  expect(await client.list()).toMatchObject({ status: { code: status.OK }, messages: [] });
  for (const handle of ['b1', 'a', 'b2', 'c']) await putSql(server.frames, handle, `SELECT '${handle}' AS ${handle}`);
  expect(await handlesOf(client)).toEqual(['a', 'b1', 'b2', 'c']);
  expect(await handlesOf(client, 'b')).toEqual(['b1', 'b2']);
  expect(await handlesOf(client, 'd')).toEqual([]);
  const { messages } = await client.list('b1');
  expect(tableFromIPC(messages[0]?.schema).schema.names).toEqual(['b1']);
  expect(messages[0]).toMatchObject({ totalRecords: 1, ordered: true });
});

it('leaves a damaged frame out, and says what it is when asked', async () => {
  await using server = await startFramehold();
  using client = new FlightClient(server.grpcAddress.port);
  await putSql(server.frames, 'good', 'SELECT 1 AS one');
  await writeFile(join(server.dataDir, 'cold', 'bad.parquet'), 'PAR1 but not really PAR1');
  await expect.poll(async () => (await client.info(byPath('bad'))).code, { timeout: 5000 }).toBe('frame_damaged');
  expect(await handlesOf(client)).toEqual(['good']);
  expect(await client.get('bad')).toMatchObject({ status: { code: status.DATA_LOSS }, messages: [] });
});
