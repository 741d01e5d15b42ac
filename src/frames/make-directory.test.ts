import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { makeDirectory } from './make-directory.ts';

test('every folder that is new is synced into the one that holds it, and no other', async () => {
  await using directory = await temporaryDirectory();
  const file = await open(directory.path, 'r');
  await file.close();
  const sync = vi.spyOn(Object.getPrototypeOf(file) as { sync(): Promise<void> }, 'sync');
  const path = join(directory.path, 'a', 'b', 'c');
  await makeDirectory(path);
  expect((await stat(path)).isDirectory()).toBe(true);
  expect(sync).toHaveBeenCalledTimes(3);
  await makeDirectory(path);
  expect(sync).toHaveBeenCalledTimes(3);
  vi.restoreAllMocks();
});
