import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Statement } from '../../core/sql/sql.ts';
import type { SqlUpdate } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { isAbsent } from '../tables/frame-tables.ts';
import { targetFrame } from '../tables/target-frame.ts';
import { temporaryHandle } from '../tables/temporary-tables.ts';

/** DROP TABLE and DROP VIEW */
export async function drop(
  call: StatementRun,
  { what, table, ifAbsent }: Extract<Statement, { kind: 'drop' }>,
): Promise<SqlUpdate> {
  const { temporary } = call.options;
  const own = temporaryHandle(temporary, table);
  if (own !== undefined && (await isTemporaryView(call, own)) === (what === 'view')) {
    await dropTemporary(call, own);
    temporary?.set(table.name, undefined);
    return { rows: 0, hasChanged: true };
  }
  try {
    const { handle, isHeld } = await targetFrame(call, table);
    if (isHeld) {
      const isView = await isViewFrame(call, handle);
      if (isView !== (what === 'view')) throw otherKind(handle, isView);
    }
    await call.frames.drop(call.principal, handle);
    return { rows: 0, hasChanged: true };
  } catch (error) {
    if (!isAbsent(error) || ifAbsent === 'fail') throw error;
    return { rows: 0, hasChanged: false };
  }
}

/** A frame of the session, which may be gone already. */
export async function dropTemporary({ frames, principal }: StatementRun, handle: Handle): Promise<void> {
  try {
    await frames.drop(principal, handle);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** False for one that is gone. */
async function isTemporaryView(call: StatementRun, handle: Handle): Promise<boolean> {
  try {
    return await isViewFrame(call, handle);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function isViewFrame({ frames, principal, options }: StatementRun, handle: Handle): Promise<boolean> {
  const frame = await frames.describe(principal, handle, options);
  return frame.state === 'held' && frame.view !== undefined;
}

function otherKind(handle: Handle, isView: boolean): AppError {
  const [is, statement] = isView ? ['a view', 'DROP VIEW'] : ['a frame', 'DROP TABLE'];
  return new AppError('sql_error', `${handle} is ${is}`, { hint: `${statement} drops it` });
}
