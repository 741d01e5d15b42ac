import type { Message, Messages } from '@framehold/grpc';
import { Ticket } from '@framehold/grpc/flight';
import { AppError } from '../core/errors/app-error.ts';
import type { Frames } from '../frames/frames.ts';
import type { Call } from './call.ts';
import { arrowSchema } from './data/arrow-schema.ts';
import { batchData, ownedBatchData, schemaData } from './data/flight-data.ts';
import { followData } from './follow-data.ts';
import { assertVersion } from './frame-info.ts';
import type { FlightParts } from './get-flight-info.ts';
import { type FrameTarget, parseReadTarget } from './request/read-target.ts';

export function doGet(
  { frames, followers, filter, sql }: FlightParts,
  request: Uint8Array,
  call: Call,
): AsyncIterable<Message> | Promise<Messages> {
  const { ticket } = Ticket.decode(request);
  if (ticket.length === 0) throw new AppError('missing_parameter', 'the ticket is empty');
  const ofSql = sql.doGet(ticket, call);
  if (ofSql !== undefined) return ofSql;
  const target = parseReadTarget(ticket, 'the ticket');
  switch (target.kind) {
    case 'sql':
      return sql.doGetSql(target.sql, call);
    case 'follow':
      return followData({ frames, followers, filter }, target, call);
    case 'frame':
      return frameData(frames, target, call);
    default:
      return target satisfies never;
  }
}

async function* frameData(
  frames: Pick<Frames, 'read'>,
  target: FrameTarget,
  { principal, signal, lane }: Call,
): AsyncGenerator<Message> {
  await using frame = await frames.read(
    principal,
    {
      ...target,
      form: 'arrow',
      needsRows({ version }) {
        assertVersion(target, version);
        return true;
      },
    },
    { signal, lane },
  );
  yield schemaData(await arrowSchema(frame.columns, lane));
  for await (const { bytes, isOwned } of frame.rows()) yield isOwned ? ownedBatchData(bytes) : batchData(bytes);
}
