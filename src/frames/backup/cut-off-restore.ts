import { readdir, realpath, stat } from 'node:fs/promises';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { findHolder } from '../peers/exclusive-file.ts';

/** The folder in which a restore makes the cold directory. A killed restore leaves it. */
export function partialOf(cold: string): string {
  return `${cold}.partial`;
}

/** Held while a restore makes the cold directory. */
export function restoreLockOf(cold: string): string {
  return `${cold}.restore.lock`;
}

/** For a server: on an empty directory beside a part of a restored one it would serve nothing, and stop the next restore. */
export async function assertNoCutOffRestore(named: string): Promise<void> {
  const cold = await realpath(named).catch(() => named);
  const partial = partialOf(cold);
  if ((await stat(partial).catch(() => undefined))?.isDirectory() !== true || !(await isAbsentOrEmpty(cold))) return;
  const holder = await findHolder(restoreLockOf(cold));
  if (holder !== undefined) {
    throw new AppError('invalid_input', `${cold} is being restored (process ${holder.pid})`, {
      hint: 'start the server when the restore is done',
    });
  }
  // It may have ended meanwhile.
  if (!(await isAbsentOrEmpty(cold))) return;
  throw new AppError('invalid_input', `${cold} is empty, and a restore of it was cut off: ${partial} is left`, {
    hint: `run "framehold restore" again, or remove ${partial} to start without frames`,
  });
}

async function isAbsentOrEmpty(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}
