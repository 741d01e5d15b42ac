import { readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { randomBase32 } from '../../core/names/handle.ts';
import { version } from '../../core/system/version.ts';
import { parseChecksummed, withChecksum } from '../disk/checksummed-json.ts';
import { type DurableFiles, storage } from '../disk/durable-file.ts';
import { earlierLeasesFolder } from '../peers/process-lease.ts';

/** The layout and form of all files below a cold directory. */
export interface DirectoryFormat {
  /** 0: of version 0.1.0, which did not say. */
  readonly format: number;
  /** The version of Framehold that brought the directory to this format. */
  readonly writtenBy: string;
}

/** The format that this program reads and writes. One more for each change that an older program would read wrongly. */
export const currentFormat = 3;

const fileName = 'format.json';

export function formatPath(coldDirectory: string): string {
  return join(coldDirectory, '.framehold', fileName);
}

export function encodeFormat(format: number): string {
  return withChecksum({ format, writtenBy: version } satisfies DirectoryFormat);
}

/** Rejects if the file is implausible: the format must not be guessed. */
export async function readFormat(coldDirectory: string): Promise<DirectoryFormat> {
  const path = formatPath(coldDirectory);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return { format: 0, writtenBy: '0.1.0' };
    throw new AppError('invalid_input', `the format file ${path} cannot be read (${errno ?? String(error)})`, {
      hint: 'make it readable for this user, or restore a backup',
      cause: error,
    });
  }
  const found = parseFormat(text);
  if (found === undefined) {
    throw new AppError('invalid_input', `the format file ${path} is damaged`, {
      hint: 'restore a backup; if the directory was last written by this version, remove the file',
    });
  }
  return found;
}

function parseFormat(text: string): DirectoryFormat | undefined {
  const value = parseChecksummed(text) as Partial<DirectoryFormat> | null | undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const { format, writtenBy } = value;
  if (typeof format !== 'number' || !Number.isSafeInteger(format) || format < 1) return undefined;
  return typeof writtenBy === 'string' ? { format, writtenBy } : undefined;
}

/** Refuses a directory that a newer program has changed. */
export async function readKnownFormat(coldDirectory: string, newest = currentFormat): Promise<DirectoryFormat> {
  const found = await readFormat(coldDirectory);
  if (found.format <= newest) return found;
  throw new AppError(
    'invalid_input',
    `${coldDirectory} has format ${found.format}, written by Framehold ${found.writtenBy}; ` +
      `this is Framehold ${version}, which reads formats up to ${newest}`,
    { hint: `start Framehold ${found.writtenBy} or newer, or restore a backup from before the upgrade` },
  );
}

/** Durable when it resolves. `isFirst`: leaves a file that another process has written meanwhile. */
export async function writeFormat(
  coldDirectory: string,
  format: number,
  durable: DurableFiles,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  await place(formatPath(coldDirectory), encodeFormat(format), durable, { isFirst });
}

/**
 * The first builds of 0.1.0 never look at the format, and would ignore unknown files. This file is where they make the folder of
 * their processes: with it they neither read nor write a frame.
 */
export function earlierBuildsMark(coldDirectory: string): string {
  return earlierLeasesFolder(coldDirectory);
}

export const markText =
  `This directory has format ${currentFormat} or newer: start Framehold ${version} or newer on it.\n` +
  'This file keeps the first builds of 0.1.0 from working on it.\n';

/** No process works on a directory whose leases would be at the path of this file. */
export async function markAgainstEarlierBuilds(coldDirectory: string, durable: DurableFiles): Promise<void> {
  const path = earlierBuildsMark(coldDirectory);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return;
  await storage(() => rm(path, { recursive: true, force: true }));
  await place(path, markText, durable, { isFirst: true });
}

/** Durable when it resolves. */
async function place(
  path: string,
  text: string,
  durable: DurableFiles,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}-${randomBase32(16)}`);
  await durable.makeFolder(folder);
  try {
    await durable.writeFile(temporary, text);
    if (isFirst) await durable.linkNew(temporary, path);
    else await durable.rename(temporary, path);
  } finally {
    await durable.remove(temporary).catch(() => {});
  }
  await durable.syncDirectory(folder);
}
