import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { errnoOf, isFailedSync, storageError } from '../../core/errors/storage-error.ts';
import { DurableFiles } from './durable-file.ts';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await directory[Symbol.asyncDispose]();
});

const path = (name: string): string => join(directory.path, name);

/** The prototype of all file handles, so that a test can make a call fail. */
async function fileHandlePrototype(): Promise<{ sync(): Promise<void> }> {
  const file = await open(directory.path, 'r');
  await file.close();
  return Object.getPrototypeOf(file) as { sync(): Promise<void> };
}

function errno(code: string, syscall = 'write'): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}

test('every folder that is new is synced into the one that holds it, and no other', async () => {
  const sync = vi.spyOn(await fileHandlePrototype(), 'sync');
  const durable = new DurableFiles();
  await durable.makeFolder(path('a/b/c'));
  expect((await stat(path('a/b/c'))).isDirectory()).toBe(true);
  expect(sync).toHaveBeenCalledTimes(3);
  await durable.makeFolder(path('a/b/c'));
  expect(sync).toHaveBeenCalledTimes(3);
});

test('writes a file only where none is', async () => {
  const durable = new DurableFiles();
  await durable.writeFile(path('a'), 'text');
  expect(await readFile(path('a'), 'utf8')).toBe('text');
  await expect(durable.writeFile(path('a'), 'other')).rejects.toMatchObject({ code: 'EEXIST' });
});

test('links only where nothing is', async () => {
  const durable = new DurableFiles();
  await writeFile(path('a'), 'a');
  await writeFile(path('b'), 'b');
  expect(await durable.linkNew(path('a'), path('c'))).toBe(true);
  expect(await durable.linkNew(path('a'), path('b'))).toBe(false);
  expect(await readFile(path('b'), 'utf8')).toBe('b');
});

test('removing what is not there is no error', async () => {
  await new DurableFiles().remove(path('nothing'));
});

test('after a failed fsync nothing is written any more, and it is not tried again', async () => {
  const durable = new DurableFiles();
  durable.assertWritable();
  const sync = vi.spyOn(await fileHandlePrototype(), 'sync').mockRejectedValueOnce(errno('EIO', 'fsync'));
  await expect(durable.writeFile(path('a'), 'text')).rejects.toMatchObject({ code: 'storage_read_only' });
  expect(sync).toHaveBeenCalledTimes(1);
  expect(() => durable.assertWritable()).toThrow('nothing is written until a restart');
});

test.each([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EROFS', 'storage_read_only'],
  ['EACCES', 'storage_read_only'],
  ['EPERM', 'storage_read_only'],
  ['EMFILE', 'overloaded'],
])('%s becomes %s', (code, expected) => {
  expect(storageError(errno(code))).toMatchObject({ code: expected });
});

test('an errno is found under the errors that it caused', () => {
  const wrapped = new Error('outer', { cause: storageError(errno('ENOSPC')) });
  expect(errnoOf(wrapped)).toBe('ENOSPC');
  expect(isFailedSync(new Error('outer', { cause: errno('EIO', 'fsync') }))).toBe(true);
  expect(isFailedSync(wrapped)).toBe(false);
});

test('a full disk does not make the store read-only, even when only the fsync notices it', async () => {
  const durable = new DurableFiles();
  vi.spyOn(await fileHandlePrototype(), 'sync').mockRejectedValueOnce(errno('ENOSPC', 'fsync'));
  await expect(durable.writeFile(path('a'), 'text')).rejects.toMatchObject({ code: 'storage_full' });
  durable.assertWritable();
});
