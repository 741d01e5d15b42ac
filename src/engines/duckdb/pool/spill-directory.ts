import { mkdirSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBase32 } from '../../../core/handle.ts';
import { isOfOtherLivingProcess, processPrefix } from '../../../core/process-id.ts';

/** A folder of one worker's own: DuckDB's spill files have the same names in every process. */
export function newSpillDirectory(root: string): string {
  try {
    mkdirSync(root, { recursive: true });
  } catch {
    // Nothing can be written here: then there is no spilling either, and DuckDB says so when it needs it.
  }
  return join(root, `${processPrefix()}${randomBase32(8)}`);
}

export function removeSpillDirectory(path: string): void {
  try {
    // In one go: the server may be about to exit.
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Without descriptors or on a disk that fails; the next start sweeps it.
  }
}

/** Removes what workers of servers that are gone have left. Gives how many folders. */
export async function sweepSpill(root: string): Promise<number> {
  const names = await readdir(root).catch(() => []);
  const left = names.filter((name) => !name.startsWith(processPrefix()) && !isOfOtherLivingProcess(name));
  await Promise.all(left.map((name) => rm(join(root, name), { recursive: true, force: true })));
  return left.length;
}
