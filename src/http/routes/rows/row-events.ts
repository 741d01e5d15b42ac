import type { FollowedRows, Follower } from '../../../follow/follower.ts';
import type { SentRows } from '../../../frames/read/row-slices.ts';
import { eventBytes } from '../../exchange/event-stream.ts';
import { tableBody } from '../../table/table-body.ts';
import type { RowsCommand } from './command.ts';

/** New rows are the same object for all followers that get them: their lines are made once. */
const linesOf = new WeakMap<Uint8Array, Buffer>();

/** Rows as events, and a progress mark at first and after `progressIntervalMs` without rows. */
export async function* rowEvents(
  follower: Follower,
  { handle, mostRows, format }: RowsCommand,
  progressIntervalMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield progressEvent(follower);
  for (;;) {
    await using rows = await follower.waitFor(mostRows, progressIntervalMs);
    if (rows === undefined) yield progressEvent(follower);
    else if (format.fmt === 'json') {
      const table = { ...openTable(rows), versionId: follower.lineage };
      yield* dataLine(tableBody({ query: `handle:${handle}` }, table, format));
      yield idLine(follower);
    } else {
      for await (const piece of rows.rows()) yield dataLines(piece);
      yield idLine(follower);
    }
  }
}

export function openTable({ columns, rows }: Pick<FollowedRows, 'columns' | 'rows'>) {
  return { columns, rows, async [Symbol.asyncDispose]() {} };
}

function progressEvent({ next, isUpToDate, lineage }: Follower): Buffer {
  return eventBytes({ event: 'progress', id: next, data: { next, upToDate: isUpToDate, lineage } });
}

/** Ends an event. */
function idLine({ next }: Follower): Buffer {
  return Buffer.from(`id: ${next}\n\n`);
}

/** A line of the event for each line of the piece. Latin1 keeps the bytes unchanged. */
function dataLines({ bytes }: SentRows): Buffer {
  let lines = linesOf.get(bytes);
  if (lines === undefined) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length - 1).toString('latin1');
    lines = Buffer.from(`data: ${text.replaceAll('\n', '\ndata: ')}\n`, 'latin1');
    linesOf.set(bytes, lines);
  }
  return lines;
}

async function* dataLine(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from('data: ');
  yield* body;
  yield Buffer.from('\n');
}
