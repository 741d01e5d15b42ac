import { open } from 'node:fs/promises';
import { LineWriter } from '../text/text-lines.ts';
import type { Rejections } from '../text/text-rejections.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { scannedRecords } from './csv-scan.ts';

/**
 * Writes a copy of a file that DuckDB reads without complaint: a line end of one kind, and no rows that are none. Those
 * go to `rejections`. Gives the length of the longest record.
 */
export async function tidyCsv(
  path: string,
  copyPath: string,
  dialect: CsvDialect,
  rejections: Rejections,
  signal: AbortSignal,
): Promise<number> {
  await using copy = new LineWriter(await open(copyPath, 'w'));
  let longest = 0;
  for await (const { line, bytes, fault } of scannedRecords(path, dialect, signal)) {
    if (fault === undefined) {
      longest = Math.max(longest, bytes.length);
      if (copy.add(bytes)) await copy.flush();
    } else rejections.add({ line, column: undefined, reason: fault });
  }
  await copy.flush();
  return longest;
}

/** The lines at which the given rows (from 0, in ascending order) begin; rows that cannot be read do not count. */
export async function linesOfRows(
  path: string,
  dialect: CsvDialect,
  rows: readonly number[],
  signal: AbortSignal,
): Promise<number[]> {
  const lines: number[] = [];
  let row = dialect.hasHeader ? -1 : 0;
  for await (const { line, fault } of scannedRecords(path, dialect, signal)) {
    if (fault !== undefined) continue;
    if (row++ !== rows[lines.length]) continue;
    lines.push(line);
    if (lines.length === rows.length) break;
  }
  return lines;
}
