import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promised } from '../harness/scenario.ts';

/** What lies in a folder of the server's own. */
export function privateFiles(dataDir: string, folder: 'tmp' | 'pending' | 'pins'): Promise<string[]> {
  return readdir(join(dataDir, 'cold', '.framehold', folder)).catch(() => []);
}

/** Waits until `isSo`; fails the trial where it never is. */
export async function becomes(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    promised(performance.now() < deadline, `${what} within ${withinMs} ms`);
    await delay(10);
  }
}

/** Nothing of a write that was refused may be left, where an answer may come a moment before the last file goes. */
export async function leavesNothing(dataDir: string): Promise<void> {
  await becomes('nothing is left in tmp and pending', async () => {
    const left = await Promise.all([privateFiles(dataDir, 'tmp'), privateFiles(dataDir, 'pending')]);
    return left.flat().length === 0;
  });
}
