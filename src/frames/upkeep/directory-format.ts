import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/app-error.ts';
import { randomBase32 } from '../../core/handle.ts';
import { errnoOf } from '../../core/storage-error.ts';
import { version } from '../../core/version.ts';
import { parseChecksummed, withChecksum } from '../disk/checksummed-json.ts';
import type { DurableFiles } from '../disk/durable-file.ts';

/** How everything below a cold directory is laid out and written. */
export interface DirectoryFormat {
  /** 0: of version 0.1.0, which did not say. */
  readonly format: number;
  /** The version of Framehold that brought the directory to this format. */
  readonly writtenBy: string;
}

/** The format that this program reads and writes. One more for each change that an older program would read wrongly. */
export const currentFormat = 2;

const fileName = 'format.json';

export function formatPath(coldDirectory: string): string {
  return join(coldDirectory, '.framehold', fileName);
}

export function encodeFormat(format: number): string {
  return withChecksum({ format, writtenBy: version } satisfies DirectoryFormat);
}

/** Rejects where the file cannot be believed: another format than the one that is there must not be guessed. */
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
  const folder = join(coldDirectory, '.framehold');
  const temporary = join(folder, `.${fileName}-${randomBase32(16)}`);
  await durable.makeFolder(folder);
  try {
    await durable.writeFile(temporary, encodeFormat(format));
    if (isFirst) await durable.linkNew(temporary, formatPath(coldDirectory));
    else await durable.rename(temporary, formatPath(coldDirectory));
  } finally {
    await durable.remove(temporary).catch(() => {});
  }
  await durable.syncDirectory(folder);
}
