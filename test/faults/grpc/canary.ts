import { createHash } from 'node:crypto';
import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { byPath, FlightClient } from '../../support/flight-client.ts';
import { ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';
import { promised } from '../harness/scenario.ts';

/** A frame that nobody touches, and what it must still be when all is over. */
export interface Canary {
  check(): Promise<void>;
}

export async function putCanary(server: Address, handle = 'canary'): Promise<Canary> {
  const rows = Array.from({ length: 3000 }, (_, row) => row);
  const table = new Table({
    id: vectorFromArray(rows.map(BigInt), new Int64()),
    text: vectorFromArray(
      rows.map((row) => `the canary sings ${row}`),
      new Utf8(),
    ),
  });
  using client = new FlightClient(server.grpcPort);
  const put = await client.put(byPath(handle), tableToIPC(table, 'stream'));
  promised(put.status.code === 0, 'the canary is put', put.status.details);
  const seen = (): Promise<string> => shown(server, handle);
  const before = await seen();
  return {
    check: async () => {
      const after = await seen();
      promised(after === before, 'a frame that nobody touched is as it was', { before, after });
    },
  };
}

/** Its bytes over both doors. */
async function shown({ url, grpcPort }: Address, handle: string): Promise<string> {
  using client = new FlightClient(grpcPort);
  const { status, messages } = await client.get(handle);
  promised(status.code === 0, 'the canary can be read over gRPC', status.details);
  const hash = createHash('sha256');
  for (const { dataHeader, dataBody } of messages) hash.update(dataHeader ?? '').update(dataBody ?? '');
  const answer = await ask(`${url}/exec?handle=${handle}&fmt=json&limit=1,`);
  promised(answer.status === 200, 'the canary can be read over HTTP', answer.text);
  const { dataset } = answer.json() as { dataset: unknown };
  return hash.update(JSON.stringify(dataset)).digest('hex');
}
