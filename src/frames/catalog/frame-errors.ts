import { AppError } from '../../core/errors/app-error.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from './catalog.ts';

export function handleNotFound(handle: FrameName): AppError {
  return new AppError('handle_not_found', `no frame is held as ${handle}`);
}

export function handleGone(handle: Handle, reason: 'dropped' | 'expired' | 'removed'): AppError {
  const how = { dropped: 'was dropped', expired: 'has expired', removed: 'was removed' } as const;
  return new AppError('handle_gone', `${handle} ${how[reason]}`, { hint: 'put the frame again' });
}

export function frameDamaged(handle: FrameName, reason: string, cause?: unknown): AppError {
  return new AppError('frame_damaged', `${handle} is damaged: ${reason}`, {
    hint: 'restore its file, or overwrite or drop the frame',
    cause,
  });
}

function changing(handle: Handle): AppError {
  return new AppError('frame_damaged', `the file of ${handle} is being changed from outside`, {
    hint: 'try again when it is complete; a file that is moved into place is never seen half',
    retryAfterSeconds: 1,
  });
}

export function handleExists(handle: Handle): AppError {
  return new AppError('handle_exists', `${handle} is taken`, {
    hint: 'choose another handle, or say overwrite or append',
  });
}

export function viewExists(handle: Handle): AppError {
  return new AppError('handle_exists', `${handle} is taken by a view`, {
    hint: 'CREATE OR REPLACE VIEW replaces it, DROP VIEW drops it',
  });
}

/** The error for writing rows. */
export function viewTaken(handle: Handle): AppError {
  return new ViewTaken('handle_exists', `${handle} is a view, which takes no rows`, {
    hint: 'write to a frame that it reads, or drop the view before',
  });
}

class ViewTaken extends AppError {}

export function isViewTaken(error: AppError): boolean {
  return error instanceof ViewTaken;
}

/** The error for replacing a frame by a view. */
export function notView(handle: Handle): AppError {
  return new AppError('handle_exists', `${handle} is a frame, which a view does not replace`, {
    hint: 'drop the frame before, or name the view otherwise',
  });
}

/** The error for a change or a stream of a view's rows: it has none of its own. */
export function isView(handle: FrameName): AppError {
  return new AppError('invalid_parameter', `${handle} is a view: it has no rows of its own`, {
    hint: 'read it, or use the frames that it reads',
  });
}

/** Rows that were computed from another version may not replace this one. */
export function frameChanged(handle: Handle): AppError {
  return new AppError('frame_changed', `${handle} was changed while the rows that replace it were made of it`, {
    hint: 'try again',
    retryAfterSeconds: 1,
  });
}

/** The file of a version was changed from outside before it could be read. */
export function frameReplaced(handle: Handle, cause?: unknown): AppError {
  return new AppError('handle_gone', `this version of ${handle} was replaced from outside`, {
    hint: 'read it again to get the new version',
    cause,
  });
}

/** Why an entry that is not held cannot be read. */
export function whyNotHeld(handle: Handle, entry: Exclude<Entry, { kind: 'held' }> | undefined): AppError {
  switch (entry?.kind) {
    case undefined:
      return handleNotFound(handle);
    case 'gone':
      return handleGone(handle, entry.tombstone.reason);
    case 'damaged':
      return frameDamaged(handle, entry.reason);
    case 'settling':
      return entry.replacesHeld ? changing(handle) : handleNotFound(handle);
    default:
      return entry satisfies never;
  }
}
