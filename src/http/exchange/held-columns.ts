import type { Column } from '@framehold/columns';
import type { Principal } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Frames } from '../../frames/frames.ts';

/** The columns of the frame to which rows are added. Undefined where there is none: the append makes it, or says why not. */
export async function heldColumns(
  frames: Pick<Frames, 'describe'>,
  principal: Principal,
  handle: FrameName,
  request: { readonly signal: AbortSignal },
): Promise<readonly Column[] | undefined> {
  try {
    const frame = await frames.describe(principal, handle, request);
    return frame.state === 'held' ? frame.columns : undefined;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'handle_not_found' || error.code === 'handle_gone'))
      return undefined;
    throw error;
  }
}
