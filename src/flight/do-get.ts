import { AppError } from '../core/app-error.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { FrameStore } from '../frames/store.ts';
import { Ticket } from '../grpc/messages/flight.ts';
import type { Call, Message } from '../grpc/server/method.ts';
import { arrowSchema } from './data/arrow-schema.ts';
import { batchData, schemaData } from './data/flight-data.ts';
import { assertVersion } from './frame-info.ts';
import type { FlightParts } from './get-flight-info.ts';
import { type FrameSelection, parseReadTarget } from './request/read-target.ts';

export function doGet({ frames, sql }: FlightParts, request: Uint8Array, call: Call): AsyncIterable<Message> {
  const { ticket } = Ticket.decode(request);
  if (ticket.length === 0) throw new AppError('missing_parameter', 'the ticket is empty');
  const ofSql = sql.doGet(ticket, call);
  if (ofSql !== undefined) return ofSql;
  const target = parseReadTarget(ticket, 'the ticket');
  return target.kind === 'sql' ? sql.doGetSql(target.sql, call) : frameData(frames, target, call);
}

const mostVersions = 2;

/** A file that is replaced from outside just as it is opened has a newer version, which serves as well. */
async function* frameData(frames: FrameStore, selection: FrameSelection, call: Call): AsyncGenerator<Message> {
  for (let version = 1; ; version++) {
    let sent = false;
    try {
      for await (const message of versionData(frames, selection, call)) {
        sent = true;
        yield message;
      }
      return;
    } catch (error) {
      const wasReplaced = error instanceof AppError && error.code === 'handle_gone' && !sent;
      if (!wasReplaced || version === mostVersions) throw error;
    }
  }
}

async function* versionData(frames: FrameStore, selection: FrameSelection, call: Call): AsyncGenerator<Message> {
  const { principal, signal, lane } = call;
  const { handle } = selection;
  await using reader = await frames.open(principal, handle, { signal });
  assertVersion(selection, reader.version);
  const columns = selectColumns(handle, reader.columns, selection.columns);
  const source = selection.columns === undefined ? reader : reader.selected(columns);
  const from = Math.min(selection.from, reader.rows);
  const to = Math.min(selection.to, reader.rows);
  const schema = schemaData(arrowSchema(columns));
  let row = from;
  if (from < to) {
    for await (const piece of source.rowsEncoded('arrow', from, to, { signal, lane })) {
      // Only now, so that a frame which cannot be read is an error before the first message.
      if (row === from) yield schema;
      row += piece.rows;
      yield batchData(piece.bytes);
    }
    if (row !== to) throw new AppError('frame_damaged', `frame ${handle} ended early`);
  } else {
    yield schema;
  }
}
