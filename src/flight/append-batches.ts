import {
  type ArrowColumn,
  type ArrowRows,
  ArrowStream,
  arrowIpcStream,
  createArrowEncoder,
  ownedBatch,
  ownedColumns,
  readAt,
  sliceColumn,
  sliceEnds,
  toColumn,
  toVector,
} from '@framehold/arrow-ipc';
import { bytesOfVectors, type Column } from '@framehold/columns';
import type { Message } from '@framehold/grpc';
import { PutResult } from '@framehold/grpc/flight';
import type { Producer } from '../core/callers/producer.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { RowSource } from '../core/rows/frame-engine.ts';
import type { Frames } from '../frames/frames.ts';
import { mostSmallBytes } from '../frames/write/small-source.ts';
import type { Call } from './call.ts';
import { BatchQueue } from './data/batch-queue.ts';
import type { FlightUpload } from './data/flight-sql-port.ts';
import type { PutOptions } from './request/put-options.ts';

/** Rows of one record batch, on their way into the frame. */
interface ArrivedBatch {
  readonly rows: number;
  readonly source: RowSource;
  /** Their memory. */
  readonly bytes: number;
}

/**
 * Appends each record batch of an upload by itself. Each is answered when it is durable, in their order; meanwhile later ones are
 * read.
 */
export async function* appendBatches(
  frames: Pick<Frames, 'put' | 'refusePut'>,
  { handle, ttlMs }: Pick<PutOptions, 'handle' | 'ttlMs'>,
  upload: FlightUpload,
  {
    principal,
    signal,
    lane,
    producer,
  }: Pick<Call, 'principal' | 'signal' | 'lane'> & { readonly producer: Producer | undefined },
): AsyncGenerator<Message> {
  if (handle === undefined) {
    throw new AppError('invalid_parameter', 'ack is "batch", and no handle is given', {
      hint: 'name the frame that the batches are appended to',
    });
  }
  await frames.refusePut(principal, { handle, mode: 'append' });
  const queue = new BatchQueue<ArrivedBatch>();
  const reading = readAhead(upload, queue);
  try {
    let number = 0;
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) {
      signal.throwIfAborted();
      const marked = producer && { ...producer, seq: producer.seq + number };
      const request = { handle, mode: 'append', ttlMs, source: batch.source, producer: marked } as const;
      const { version, isRepeated } = await frames.put(principal, request, { signal, lane });
      queue.release();
      const answer = {
        seq: marked?.seq ?? number,
        rows: batch.rows,
        version,
        ...(isRepeated && { repeated: true }),
      };
      yield PutResult.encode({ appMetadata: Buffer.from(JSON.stringify(answer)) });
      number++;
    }
    await reading;
  } finally {
    // The reader may wait for a client that waits for the end of this call.
    queue.close();
  }
}

/** Does not reject: the queue passes on the error, behind the batches before it. */
async function readAhead(upload: FlightUpload, queue: BatchQueue<ArrivedBatch>): Promise<void> {
  try {
    await using stream = await ArrowStream.open(upload.ipcStream());
    const owned = ownedColumns(stream.fields);
    const columns = stream.fields.map(toColumn);
    for await (const rows of stream.rows()) {
      const bytes = bytesOfColumns(rows.columns);
      const batch = owned !== undefined && rows.rows > 0 && bytes <= mostSmallBytes && ownedBatch(rows, owned);
      if (batch) {
        await queue.add({ rows: rows.rows, source: { kind: 'batch', batch }, bytes: bytesOfVectors(batch.vectors) });
      } else {
        const stream = arrowIpcStream(columns, encoded(rows, columns));
        // Its memory is valid until the next message is read.
        await queue.addAlone({ rows: rows.rows, source: { kind: 'arrow', stream }, bytes });
      }
      if (queue.isClosed) return;
    }
    queue.end();
  } catch (error) {
    queue.fail(error);
  }
}

/** Unpacked: a message may be compressed. */
function bytesOfColumns(columns: readonly ArrowColumn[]): number {
  return columns.reduce((sum, { data, offsets, viewed, children }) => {
    const own = data.byteLength + offsets.byteLength + viewed.reduce((all, { byteLength }) => all + byteLength, 0);
    return sum + own + bytesOfColumns(children);
  }, 0);
}

/** The rows of a message without dictionaries, in pieces of a size that can be held. */
function* encoded(
  { message, rows, columns: sent }: ArrowRows,
  columns: readonly Column[],
): Generator<{ bytes: Uint8Array }> {
  const encoder = createArrowEncoder(columns);
  let from = 0;
  for (const to of readAt(message, () => sliceEnds(sent, rows))) {
    const vectors = readAt(message, () =>
      sent.map((column, index) => toVector(sliceColumn(column, from, to), (columns[index] as Column).type)),
    );
    const batch = { columns, rows: to - from, vectors };
    for (let row = 0; row < batch.rows; ) {
      row = encoder.encodeRows(batch, row, batch.rows);
      yield encoder.takeMessage();
    }
    from = to;
  }
}
