import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../../../core/errors/app-error.ts';

const magics: readonly (readonly [string, string])[] = [
  ['PK\x03\x04', 'a ZIP archive or a spreadsheet'],
  ['\xd0\xcf\x11\xe0', 'an old spreadsheet'],
  ['PAR1', 'Parquet'],
  ['ARROW1', 'Arrow'],
  ['\x1f\x8b', 'compressed with gzip'],
  ['\x28\xb5\x2f\xfd', 'compressed with zstd'],
  ['%PDF-', 'a PDF'],
  ['SQLite format 3\0', 'an SQLite database'],
];
const lookedAtBytes = 4096;

/** Binary files and other encodings have no lines that an error could name. */
export function refuseOtherEncodings(bytes: Buffer): void {
  const start = bytes.toString('latin1', 0, 16);
  const magic = magics.find(([beginning]) => start.startsWith(beginning));
  if (magic !== undefined) throw notText(`it looks like ${magic[1]}`);
  const hasMark = start.startsWith('\xff\xfe') || start.startsWith('\xfe\xff');
  if (hasMark || everySecondIsZero(bytes.subarray(0, 16))) {
    throw new AppError('invalid_input', 'the file is not UTF-8: it looks like UTF-16', {
      hint: 'save it as UTF-8 (iconv -f UTF-16 -t UTF-8)',
    });
  }
  const looked = bytes.subarray(0, lookedAtBytes);
  const strange = looked.filter((byte) => byte < 9 || (byte > 13 && byte < 32)).length;
  if (strange * 10 > looked.length) throw notText('it looks like binary data');
}

function everySecondIsZero(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  return [0, 1].some((side) => bytes.every((byte, index) => (byte === 0) === (index % 2 === side)));
}

function notText(what: string): AppError {
  return new AppError('invalid_input', `the file is not text: ${what}`, {
    hint: 'name the format that the file has, or send it as text in UTF-8',
  });
}

/** Why these bytes are not text, in words; undefined if they are. */
export function textFault(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return 'it holds a NUL byte';
  if (isUtf8(bytes)) return undefined;
  return 'it is not UTF-8 (perhaps Latin-1 or Windows-1252)';
}

export const utf8ByteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);
