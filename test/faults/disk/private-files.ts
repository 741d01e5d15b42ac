import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateFiles as filesIn } from '../../support/private-files.ts';
import { promised } from '../harness/scenario.ts';

/** What lies in a folder of the server's own. */
export function privateFiles(dataDir: string, folder: 'tmp' | 'pending' | 'pins'): string[] {
  return filesIn(join(dataDir, 'cold'), folder);
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
  await becomes('nothing is left in tmp and pending', () => {
    return [...privateFiles(dataDir, 'tmp'), ...privateFiles(dataDir, 'pending')].length === 0;
  });
}
