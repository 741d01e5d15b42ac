import { open } from 'node:fs/promises';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { textFault, utf8ByteOrderMark } from '../text/text-encoding.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { type CsvRecord, csvFaults, csvRecord } from './csv-records.ts';
import { maxRecordBytes } from './csv-sample.ts';

const windowBytes = 1024 * 1024;

export interface ScannedRecord {
  /** Its first line, from 1. */
  readonly line: number;
  /** Valid until the next record is read. */
  readonly bytes: Uint8Array;
  /** Why it cannot be read as a row. */
  readonly fault: string | undefined;
}

/**
 * The records of a file one by one, the header too, without lines of nothing that are no rows. This is the slow way, for
 * when DuckDB has found a fault in the file: here each fault has its line.
 */
export async function* scannedRecords(
  path: string,
  dialect: Pick<CsvDialect, 'delimiter' | 'names'>,
  signal: AbortSignal,
): AsyncGenerator<ScannedRecord, void, undefined> {
  const delimiter = dialect.delimiter.charCodeAt(0);
  const columns = dialect.names.length;
  await using file = await open(path, 'r');
  let window = Buffer.allocUnsafeSlow(windowBytes);
  let filled = 0;
  let position = 0;
  let line = 1;
  let isBeginning = true;
  for (let isWhole = false; !isWhole; ) {
    signal.throwIfAborted();
    if (filled === window.length) window = grown(window);
    const { bytesRead } = await file.read(window, filled, window.length - filled, position);
    position += bytesRead;
    filled += bytesRead;
    isWhole = bytesRead === 0;
    const bytes = window.subarray(0, filled);
    let at = position === filled && bytes.subarray(0, 3).equals(utf8ByteOrderMark) ? 3 : 0;
    while (at < filled) {
      const record = csvRecord(bytes, at, delimiter, isWhole) ?? endless(bytes, at, delimiter);
      if (record === undefined) break;
      const isBlank = record.start === record.end && record.fault === undefined;
      if (!isBlank || (columns === 1 && !isBeginning)) {
        const content = bytes.subarray(record.start, record.end);
        yield { line, bytes: content, fault: rowFault(record, columns) ?? textFault(content) };
        isBeginning = false;
      }
      line += record.lines;
      at = record.next;
    }
    window.copyWithin(0, at, filled);
    filled -= at;
  }
}

function grown(window: Buffer): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(window.length * 2);
  larger.set(window);
  return larger;
}

/** A record that ends in no window: a quote that was never closed, most likely. */
function endless(bytes: Buffer, at: number, delimiter: number): CsvRecord | undefined {
  if (bytes.length - at < maxRecordBytes) return undefined;
  const record = csvRecord(bytes, at, delimiter, true);
  if (record?.fault !== undefined) return record;
  throw new AppError('too_large', `a line of the file is longer than ${maxRecordBytes} bytes`, {
    hint: 'send such data as Parquet or Arrow',
  });
}

function rowFault({ fault, fields, endsWithEmptyField }: CsvRecord, columns: number): string | undefined {
  if (fault !== undefined) return csvFaults[fault];
  // One delimiter too many at the end of a line loses nothing, and DuckDB reads over it too.
  if (fields === columns || (fields === columns + 1 && endsWithEmptyField)) return undefined;
  const values = fields === 1 ? '1 value' : `${fields} values`;
  return `it has ${values} where ${columns === 1 ? 'there is 1 column' : `there are ${columns} columns`}`;
}
