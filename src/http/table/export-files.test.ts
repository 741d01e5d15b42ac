import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { isTenant, type Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { ExportFiles, type ExportFilesOptions, type ExportKey, type MakeFile } from './export-files.ts';

let directory: TemporaryDirectory;
let files: ExportFiles;
let made: string[];
beforeEach(async () => {
  directory = await temporaryDirectory();
  files = new ExportFiles();
  made = [];
});
afterEach(async () => {
  await files[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

function tenant(name: string): Tenant {
  if (!isTenant(name)) throw new Error(`${name} names no tenant`);
  return name;
}

const { signal } = new AbortController();
const key = (more: Partial<ExportKey> = {}): ExportKey => ({
  tenant: tenant('default'),
  source: 'trades',
  versionId: '1',
  form: 'csv',
  ...more,
});

/** Makes a file of this text. */
const text =
  (content: string): MakeFile =>
  async ({ maxBytes }) => {
    if (content.length > maxBytes) return 'too large';
    const path = join(directory.path, `${made.length}`);
    made.push(path);
    await writeFile(path, content);
    const remove = (): Promise<void> => rm(path, { force: true });
    return { file: { path, [Symbol.asyncDispose]: remove }, bytes: content.length, etag: `"${content}"` };
  };

async function opened(of: ExportKey, make: MakeFile, wanted: AbortSignal = signal): Promise<string | undefined> {
  await using found = await files.open(of, make, { signal: wanted });
  return found && (await found.file.readFile('utf8'));
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function restart(options: ExportFilesOptions): Promise<void> {
  await files[Symbol.asyncDispose]();
  files = new ExportFiles(options);
}

test('a file is made once, for those who ask at once and those who ask later', async () => {
  expect(await Promise.all([opened(key(), text('a')), opened(key(), text('b')), opened(key(), text('c'))])).toEqual([
    'a',
    'a',
    'a',
  ]);
  expect(await opened(key(), text('d'))).toBe('a');
  expect(made).toHaveLength(1);
});

test('a tenant, a form and a version have a file each, and a new version removes the old one', async () => {
  expect(await opened(key(), text('one'))).toBe('one');
  expect(await opened(key({ tenant: tenant('other') }), text('theirs'))).toBe('theirs');
  expect(await opened(key({ form: 'tsv' }), text('tsv'))).toBe('tsv');
  expect(await opened(key({ versionId: '2' }), text('two'))).toBe('two');
  await vi.waitFor(async () => {
    expect(await Promise.all(made.map(isThere))).toEqual([false, true, false, true]);
  });
});

test('the files that were used longest ago make room, but who reads one reads it to its end', async () => {
  await restart({ budgetBytes: 10 });
  await using first = await files.open(key({ form: 'a' }), text('aaaa'), { signal });
  await opened(key({ form: 'b' }), text('bbbb'));
  await opened(key({ form: 'a' }), text('never'));
  await opened(key({ form: 'c' }), text('cccc'));
  expect(files.usedBytes).toBe(8);
  await vi.waitFor(async () => expect(await Promise.all(made.map(isThere))).toEqual([true, false, true]));
  await opened(key({ form: 'd' }), text('dddddddd'));
  await vi.waitFor(async () => expect(await isThere(made[0] ?? '')).toBe(false));
  expect(await first?.file.readFile('utf8')).toBe('aaaa');
});

test('a file that nobody uses is removed', async () => {
  await restart({ idleMs: 20 });
  await opened(key(), text('a'));
  await vi.waitFor(async () => expect(await isThere(made[0] ?? '')).toBe(false));
  expect(files.usedBytes).toBe(0);
  expect(await opened(key(), text('b'))).toBe('b');
});

test('a document that is too large is not made, and not tried again', async () => {
  await restart({ maxBytes: 3 });
  expect(await opened(key(), text('long'))).toBeUndefined();
  expect(await opened(key(), text('abc'))).toBeUndefined();
  expect(await opened(key({ form: 'tsv' }), text('abc'))).toBe('abc');
});

test('a full disk leaves the document to be streamed, another failure is told to all', async () => {
  const full: MakeFile = async () => {
    throw new AppError('storage_full', 'the disk is full');
  };
  expect(await opened(key(), full)).toBeUndefined();
  const damaged: MakeFile = async () => {
    throw new AppError('frame_damaged', 'the frame is damaged');
  };
  const answers = await Promise.allSettled([opened(key(), damaged), opened(key(), damaged)]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await opened(key(), text('a'))).toBe('a');
});

test('one who leaves does not stop the others, the last one does', async () => {
  let stopped = 0;
  const endless: MakeFile = (limits) =>
    new Promise((_, reject) => {
      limits.signal.addEventListener('abort', () => {
        stopped++;
        reject(limits.signal.reason);
      });
    });
  const one = new AbortController();
  const two = new AbortController();
  const asked = [opened(key(), endless, one.signal), opened(key(), endless, two.signal)];
  const ended = Promise.allSettled(asked);
  one.abort();
  await expect(asked[0]).rejects.toThrow();
  expect(stopped).toBe(0);
  two.abort();
  await ended;
  expect(stopped).toBe(1);
  expect(await opened(key(), text('a'))).toBe('a');
});

test('a file that somebody else removed is left out once, and made again', async () => {
  await opened(key(), text('a'));
  await rm(made[0] ?? '');
  expect(await opened(key(), text('b'))).toBeUndefined();
  expect(await opened(key(), text('b'))).toBe('b');
});

test('closing removes all files, and no more are made', async () => {
  await opened(key(), text('a'));
  await files[Symbol.asyncDispose]();
  expect(await isThere(made[0] ?? '')).toBe(false);
  expect(await opened(key({ form: 'tsv' }), text('b'))).toBeUndefined();
});
