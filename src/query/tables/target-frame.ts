import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, isSharedName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import { isAnalytics, type TableName } from '../../core/sql/sql.ts';
import { frameNameOf, notWritable } from '../../core/sql/table-name.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import { frameDamaged } from '../../frames/catalog/frame-errors.ts';
import type { HeldSummary } from '../../frames/catalog/frame-summary.ts';
import type { StatementRun } from '../statement-run.ts';
import { findFrame } from './frame-tables.ts';
import { temporaryHandle } from './temporary-tables.ts';

export interface TargetFrame {
  readonly handle: Handle;
  readonly isHeld: boolean;
}

/** The frame that a statement changes, whether it is held or not: one of the caller's own. */
export async function targetFrame(call: StatementRun, table: TableName): Promise<TargetFrame> {
  const { frames, principal } = call;
  if (isAnalytics(table)) throw readOnlyAnalytics();
  const wanted = frameNameOf(principal.tenant, table);
  const found = await findFrame(frames, principal, table);
  const handle = found ?? wanted;
  if (!isSharedName(handle)) return { handle, isHeld: found !== undefined };
  await refuseShared(call, handle, table);
  throw notWritable(table);
}

/** The frame, or the temporary table, whose rows a statement changes. */
export async function changedFrame(call: StatementRun, table: TableName): Promise<Handle> {
  return temporaryHandle(call.options.temporary, table) ?? (await targetFrame(call, table)).handle;
}

/** The summary of a frame or view. */
export async function describeHeld({ frames, principal, options }: StatementRun, handle: Handle): Promise<HeldSummary> {
  const frame = await frames.describe(principal, handle, options);
  if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
  return frame;
}

/** Refuses a name that no column of the table has. */
export function assertColumns(
  named: readonly { readonly name: string; readonly position?: number | undefined }[],
  columns: readonly Column[],
  table: string,
): void {
  const names = columns.map((column) => column.name);
  for (const { name, position } of named) {
    if (names.some((each) => isSameName(each, name))) continue;
    const suggestion = didYouMeanName(name, names);
    throw new AppError('sql_error', `column ${JSON.stringify(name)} not found in ${table}${suggestion}`, { position });
  }
}

async function refuseShared({ frames, principal }: StatementRun, name: FrameName, table: TableName): Promise<void> {
  try {
    await frames.refusePut(principal, { handle: name, mode: 'append' });
  } catch (error) {
    // There is one tenant, so that no schema is another's.
    throw error instanceof AppError && error.code === 'invalid_handle' ? notWritable(table) : error;
  }
}

function readOnlyAnalytics(): AppError {
  return new AppError('sql_forbidden', 'the database analytics can only be read', {
    hint: 'make a frame: CREATE TABLE name AS SELECT …',
  });
}
