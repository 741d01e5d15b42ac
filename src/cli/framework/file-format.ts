import { basename } from 'node:path';
import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';
import { isHandle } from '../../core/names/handle.ts';
import { type FileFormatName, fileFormats, formatOfName, packedEnding } from '../../core/rows/file-format.ts';

/** The format of a file that is to be written. */
export function outputFormat(path: string): FileFormatName {
  const format = packedEnding.test(path) ? undefined : formatOfName(basename(path));
  if (format !== undefined) return format;
  throw new UsageError(`the ending of ${quoteValue(path)} names no format; give --format ${fileFormats.join('|')}`);
}

export function isBinary(format: string): boolean {
  return format === 'parquet' || format === 'arrow';
}

/** A file's name without its ending. */
export function handleFromPath(path: string): string {
  const name = basename(path)
    .replace(packedEnding, '')
    .replace(/(.)\.[^.]*$/, '$1');
  if (isHandle(name)) return name;
  throw new UsageError(
    `the name of ${quoteValue(path)} gives no handle (A-Z a-z 0-9 _ . -, at most 128); name one with --handle`,
  );
}
