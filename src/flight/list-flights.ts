import { WorkSlices } from '@framehold/async';
import { Criteria } from '@framehold/grpc/flight';
import { AppError } from '../core/errors/app-error.ts';
import type { Frames } from '../frames/frames.ts';
import type { Call } from './call.ts';
import { frameInfo } from './frame-info.ts';
import { pathDescriptor } from './request/descriptor.ts';
import { decodeUtf8 } from './request/json-object.ts';
import { wholeFrame } from './request/read-target.ts';

/** A FlightInfo for every frame whose handle begins with the criteria's text, without damaged frames, which cannot be read. */
export async function* listFlights(
  frames: Frames,
  request: Uint8Array,
  { principal, lane }: Call,
): AsyncGenerator<Uint8Array> {
  const prefix = decodeUtf8(Criteria.decode(request).expression);
  if (prefix === undefined) throw new AppError('invalid_parameter', 'the expression of the criteria is not UTF-8');
  const slices = new WorkSlices(lane);
  for await (const summary of frames.list(principal, { prefix })) {
    await slices.rest();
    if (summary.state === 'damaged') continue;
    yield await frameInfo(summary, wholeFrame(summary.handle), pathDescriptor(summary.handle), lane);
  }
}
