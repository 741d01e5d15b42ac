import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBase32 } from '../../../core/names/handle.ts';
import { isOfOtherLivingProcess, processPrefix } from '../../../core/system/process-id.ts';

/** A folder of one worker's own: DuckDB's spill files have the same names in every process. */
export function newSpillDirectory(root: string): string {
  try {
    mkdirSync(root, { recursive: true });
  } catch {
    // Nothing can be written here: then there is no spilling either, and DuckDB says so when it needs it.
  }
  return join(root, `${processPrefix()}${randomBase32(8)}`);
}

/** Not on the event loop: to unlink gigabytes takes seconds. */
export async function removeSpillDirectory(path: string): Promise<void> {
  // Without descriptors, on a disk that fails, or at an exit: the next start sweeps it.
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** Removes the spill folders of servers that are gone. Returns their number. */
export async function sweepSpill(root: string): Promise<number> {
  const names = await readdir(root).catch(() => []);
  const left = names.filter((name) => !name.startsWith(processPrefix()) && !isOfOtherLivingProcess(name));
  await Promise.all(left.map((name) => rm(join(root, name), { recursive: true, force: true })));
  return left.length;
}
