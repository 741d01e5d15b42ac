import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { refuseOtherEncodings, utf8ByteOrderMark } from '../text/text-encoding.ts';
import { type CsvRecord, csvRecord } from './csv-records.ts';

const sampleBytes = 128 * 1024;
/** The longest record that is read. */
export const maxRecordBytes = 64 * 1024 * 1024;

/** The first records of a file. */
export interface CsvSample {
  /** Whole records, from the first that is not blank. */
  readonly bytes: Buffer;
  /** Lines of nothing at the beginning. */
  readonly blankLines: number;
  /** Whether this is all of the file. */
  readonly isWhole: boolean;
}

export async function csvSample(path: string): Promise<CsvSample> {
  await using file = await open(path, 'r');
  let sample = await head(file, sampleBytes);
  refuseOtherEncodings(sample.bytes);
  while (!sample.isWhole && !endsRecord(sample.bytes) && sample.bytes.length < maxRecordBytes) {
    sample = await head(file, Math.min(sample.bytes.length * 16, maxRecordBytes));
  }
  const { bytes, isWhole } = sample;
  const from = bytes.subarray(0, 3).equals(utf8ByteOrderMark) ? 3 : 0;
  const { start, blankLines } = skipBlankLines(bytes, from);
  if (start === bytes.length) {
    throw new AppError('invalid_input', 'the file is empty', {
      hint: 'send at least a line with the names of columns',
    });
  }
  return { bytes: bytes.subarray(start), blankLines, isWhole };
}

async function head(file: FileHandle, length: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const bytes = Buffer.allocUnsafeSlow(length + 1);
  let filled = 0;
  while (filled <= length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return { bytes: bytes.subarray(0, Math.min(filled, length)), isWhole: filled <= length };
}

/** Whether some line ends in it; a record that is longer than the sample has none. */
function endsRecord(bytes: Buffer): boolean {
  return bytes.includes(10) || bytes.includes(13);
}

function skipBlankLines(bytes: Buffer, from: number): { start: number; blankLines: number } {
  let start = from;
  let blankLines = 0;
  while (bytes[start] === 10 || bytes[start] === 13) {
    start += bytes[start] === 13 && bytes[start + 1] === 10 ? 2 : 1;
    blankLines++;
  }
  return { start, blankLines };
}

/** The records of the sample, up to `most`; the last one may be cut off and is left out then. */
export function* sampledRecords(sample: CsvSample, delimiter: number, most: number): Generator<CsvRecord> {
  for (let at = 0, count = 0; at < sample.bytes.length && count < most; count++) {
    const record = csvRecord(sample.bytes, at, delimiter, sample.isWhole);
    if (record === undefined) return;
    yield record;
    at = record.next;
  }
}
