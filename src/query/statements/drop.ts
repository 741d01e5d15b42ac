import { AppError } from '../../core/app-error.ts';
import type { Handle } from '../../core/handle.ts';
import type { Principal } from '../../core/principal.ts';
import type { Statement } from '../../core/sql.ts';
import type { Frames } from '../../frames/frames.ts';
import type { CallOptions, SqlUpdate } from '../frame-sql.ts';
import { isAbsent } from '../tables/frame-tables.ts';
import { temporaryHandle } from '../tables/temporary-tables.ts';
import { targetFrame } from './target-frame.ts';

/** DROP TABLE and DROP VIEW */
export async function drop(
  frames: Frames,
  principal: Principal,
  { what, table, ifAbsent }: Extract<Statement, { kind: 'drop' }>,
  { temporary, signal }: CallOptions,
): Promise<SqlUpdate> {
  const own = temporaryHandle(temporary, table);
  if (own !== undefined && (await isTemporaryView(frames, principal, own, signal)) === (what === 'view')) {
    await dropTemporary(frames, principal, own);
    temporary?.set(table.name, undefined);
    return { rows: 0, hasChanged: true };
  }
  try {
    const { handle, isHeld } = await targetFrame(frames, principal, table);
    if (isHeld) {
      const isView = await isViewFrame(frames, principal, handle, signal);
      if (isView !== (what === 'view')) throw otherKind(handle, isView);
    }
    await frames.drop(principal, handle);
    return { rows: 0, hasChanged: true };
  } catch (error) {
    if (!isAbsent(error) || ifAbsent === 'fail') throw error;
    return { rows: 0, hasChanged: false };
  }
}

/** A frame of the session, which may be gone already. */
export async function dropTemporary(frames: Frames, principal: Principal, handle: Handle): Promise<void> {
  try {
    await frames.drop(principal, handle);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** One that is gone is none. */
async function isTemporaryView(
  frames: Frames,
  principal: Principal,
  handle: Handle,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await isViewFrame(frames, principal, handle, signal);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function isViewFrame(
  frames: Frames,
  principal: Principal,
  handle: Handle,
  signal: AbortSignal,
): Promise<boolean> {
  const frame = await frames.describe(principal, handle, { signal });
  return frame.state === 'held' && frame.view !== undefined;
}

function otherKind(handle: Handle, isView: boolean): AppError {
  const [is, statement] = isView ? ['a view', 'DROP VIEW'] : ['a frame', 'DROP TABLE'];
  return new AppError('sql_error', `${handle} is ${is}`, { hint: `${statement} drops it` });
}
