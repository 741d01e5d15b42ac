import { FlightInfo, type Timestamp } from '@framehold/grpc/flight';
import { AppError } from '../core/errors/app-error.ts';
import { frameDamaged } from '../frames/catalog/frame-errors.ts';
import type { HeldSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames } from '../frames/frames.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { Call } from './call.ts';
import { arrowSchema } from './data/arrow-schema.ts';
import { type FrameTarget, ticketOf } from './request/read-target.ts';

/** A held frame, without counting as a read. */
export async function heldFrame(
  frames: Pick<Frames, 'describe'>,
  selection: FrameTarget,
  call: Call,
): Promise<HeldSummary> {
  const { handle } = selection;
  const summary = await frames.describe(call.principal, handle, { signal: call.signal });
  if (summary.state === 'damaged') throw frameDamaged(handle, summary.reason);
  assertVersion(selection, summary.version);
  return summary;
}

export function assertVersion({ handle, version }: FrameTarget, current: number): void {
  if (version === undefined || version === current) return;
  throw new AppError('handle_gone', `version ${version} of ${handle} is gone: it is at version ${current}`);
}

/** A FlightInfo with one endpoint and no location: the client returns to the same server. */
export async function frameInfo(
  summary: HeldSummary,
  selection: FrameTarget,
  descriptor: Uint8Array,
  lane: string,
): Promise<Uint8Array> {
  const { handle, version, rows, bytes, columns, expiresAt, view } = summary;
  const isWhole = selection.columns === undefined && selection.from === 0 && selection.to >= rows;
  const selectedRows = Math.max(0, Math.min(selection.to, rows) - selection.from);
  return FlightInfo.encode({
    schema: await arrowSchema(selectColumns(handle, columns, selection.columns), lane),
    descriptor,
    endpoint: [
      {
        ticket: { ticket: ticketOf(selection) },
        location: [],
        expirationTime: expiresAt === undefined ? undefined : timestamp(expiresAt),
        appMetadata: new Uint8Array(0),
      },
    ],
    totalRecords: view === undefined ? BigInt(selectedRows) : -1n,
    totalBytes: isWhole && view === undefined ? BigInt(bytes) : -1n,
    ordered: true,
    appMetadata: Buffer.from(JSON.stringify({ handle, version })),
  });
}

export function timestamp(ms: number): ReturnType<typeof Timestamp.decode> {
  const seconds = Math.floor(ms / 1000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1000) * 1e6) };
}
