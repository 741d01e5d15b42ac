import type { Principal } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { type Handle, isHandle } from '../../core/names/handle.ts';
import type { TableName } from '../../core/sql/sql.ts';
import { frameNameOf, notReadable } from '../../core/sql/table-name.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import type { Frames } from '../../frames/frames.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import { findFrame, isAbsent, sqlNameOf } from './frame-tables.ts';
import { shownName } from './table-names.ts';
import { temporaryGone } from './temporary-tables.ts';

interface OpenOptions {
  readonly signal: AbortSignal;
}

/** The frame that a table's name means to this caller. */
export async function openFrame(
  frames: Frames,
  principal: Principal,
  table: TableName,
  options: OpenOptions,
): Promise<FrameReader> {
  if (isHandle(table.name)) {
    let dropped: AppError | undefined;
    try {
      return await frames.open(principal, frameNameOf(principal.tenant, table), options);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // There is one tenant, so that no schema is another's.
      if (error.code === 'invalid_handle') throw notReadable(table);
      if (error.code === 'handle_gone') dropped = error;
      else if (error.code !== 'handle_not_found') throw error;
    }
    const alike = await findFrame(frames, principal, table);
    if (alike !== undefined) return await frames.open(principal, alike, options);
    if (dropped !== undefined) throw dropped;
  }
  const names: string[] = [];
  for await (const { handle } of frames.list(principal)) names.push(sqlNameOf(handle));
  const name = shownName(table);
  throw new AppError('sql_error', `table ${JSON.stringify(name)} not found${didYouMeanName(name, names)}`, {
    position: table.position,
    hint: 'SHOW TABLES lists the frames',
  });
}

/** The frame that the caller's session has under this name. */
export async function openTemporary(
  frames: Frames,
  principal: Principal,
  { table, handle }: { readonly table: TableName; readonly handle: Handle },
  options: OpenOptions,
): Promise<FrameReader> {
  try {
    return await frames.open(principal, handle, options);
  } catch (error) {
    throw isAbsent(error) ? temporaryGone(table, error) : error;
  }
}
