import { RecordBatchReader } from 'apache-arrow';
import { familyOf, residentBytesOf } from '../../support/process-facts.ts';
import type { EngineDoor, SqlRequest } from './engine-door.ts';

export interface ArrowRows {
  readonly rows: number;
  /** Of the column `id`. */
  readonly sumOfIds: bigint;
  readonly bytes: number;
  /** By which the server and its workers grew meanwhile, at most. */
  readonly grownBytes: number;
}

/** Reads the answer to a statement as Arrow, a batch at a time, and forgets each. */
export async function arrowRows({ server }: EngineDoor, request: SqlRequest): Promise<ArrowRows> {
  const residentBytes = (): number => familyOf(server.pid).reduce((sum, pid) => sum + residentBytesOf(pid), 0);
  const before = residentBytes();
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, residentBytes());
  }, 500);
  try {
    const response = await fetch(`${server.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, format: 'arrow' }),
    });
    if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`);
    let [bytes, rows, sumOfIds] = [0, 0, 0n];
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          controller.enqueue(chunk);
        },
      }),
    );
    for await (const batch of await RecordBatchReader.from(counted)) {
      rows += batch.numRows;
      for (const id of batch.getChild('id') ?? []) sumOfIds += id as bigint;
    }
    return { rows, sumOfIds, bytes, grownBytes: highest - before };
  } finally {
    clearInterval(watch);
  }
}
