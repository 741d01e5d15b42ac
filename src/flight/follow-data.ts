import { arrowFields, arrowTable } from '@framehold/arrow-ipc';
import type { Message } from '@framehold/grpc';
import { AppError } from '../core/errors/app-error.ts';
import { type FollowedRows, Follower, type FollowParts } from '../follow/follower.ts';
import type { Call } from './call.ts';
import { arrowSchema } from './data/arrow-schema.ts';
import { batchData, paddedJson, schemaData } from './data/flight-data.ts';
import type { FollowTarget } from './request/read-target.ts';

/** Rows of one read; between two reads nothing of the frame is held. */
const mostRows = 100_000;

/** The rows of a frame and new ones, each batch with the number of the row behind it. A batch without rows is a progress mark. */
export async function* followData(
  parts: FollowParts,
  target: FollowTarget,
  { principal, signal, lane, waits }: Call,
): AsyncGenerator<Message> {
  waits();
  using follower = await Follower.open(parts, principal, { ...target, form: 'arrow' }, { signal, lane });
  await follower.begin();
  const schema = await arrowSchema(follower.columns, lane);
  const noRows = arrowTable(arrowFields(follower.columns), []);
  const { lineage } = follower;
  yield schemaData(schema);
  yield batchData(noRows, paddedJson({ next: follower.next, lineage }));
  for (;;) {
    let { next } = follower;
    await using rows = await follower.waitFor(mostRows, parts.followers.progressIntervalMs);
    if (rows === undefined) yield batchData(noRows, paddedJson({ next }));
    else {
      if (Buffer.compare(await arrowSchema(rows.columns, lane), schema) !== 0) throw otherColumns(next);
      if (target.where !== undefined) yield* filteredData(rows, next, follower.next);
      else {
        for await (const piece of rows.rows()) {
          next += piece.rows;
          yield batchData(piece.bytes, paddedJson({ next }));
        }
      }
    }
  }
}

/** Filtered rows have no numbers: only behind the last batch it is certain where to resume. */
async function* filteredData({ rows }: FollowedRows, from: number, next: number): AsyncGenerator<Message> {
  let held: Uint8Array | undefined;
  for await (const { bytes } of rows()) {
    if (held !== undefined) yield batchData(held, paddedJson({ next: from }));
    held = bytes;
  }
  if (held !== undefined) yield batchData(held, paddedJson({ next }));
}

/** A stream has one schema. */
function otherColumns(next: number): AppError {
  return new AppError('schema_mismatch', `the frame has other columns from row ${next} on`, {
    hint: `follow it again from ${next}, or name the columns`,
  });
}
