import { AppError } from '../../../core/errors/app-error.ts';
import { type FileFormatName, fileFormats, formatOfName } from '../../../core/rows/file-format.ts';

/** Number of first bytes that are examined. */
export const headBytes = 1024;

const byMediaType = new Map<string, FileFormatName>(
  Object.entries({
    'text/csv': 'csv',
    'application/csv': 'csv',
    'text/comma-separated-values': 'csv',
    'text/tab-separated-values': 'tsv',
    'application/vnd.apache.parquet': 'parquet',
    'application/parquet': 'parquet',
    'application/x-parquet': 'parquet',
    'application/vnd.apache.arrow.stream': 'arrow',
    'application/vnd.apache.arrow.file': 'arrow',
    'application/json': 'json',
    'text/json': 'json',
    'application/x-ndjson': 'ndjson',
    'application/ndjson': 'ndjson',
    'application/jsonl': 'ndjson',
    'application/x-jsonlines': 'ndjson',
    'application/json-lines': 'ndjson',
  } as const),
);

/** Media types that clients send for any file: curl without a header, browsers for a CSV on Windows. */
const silentMediaTypes = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
  'application/vnd.ms-excel',
  'text/plain',
]);

interface Signature {
  readonly name: string;
  readonly format: FileFormatName | undefined;
  /** Bytes as Latin-1. */
  readonly start: string;
}

/** A CSV may begin with the letters PAR1, but hardly with a control character behind them. */
const signatures: readonly Signature[] = [
  { name: 'a Parquet file', format: 'parquet', start: 'PAR1\x15' },
  { name: 'an Arrow file', format: 'arrow', start: 'ARROW1\0' },
  { name: 'an Arrow stream', format: 'arrow', start: '\xff\xff\xff\xff' },
  { name: 'a ZIP archive', format: undefined, start: 'PK\x03\x04' },
  { name: 'a bzip2 file', format: undefined, start: 'BZh91AY&SY' },
  { name: 'an xz file', format: undefined, start: '\xfd7zXZ\0' },
  { name: 'an LZ4 file', format: undefined, start: '\x04\x22\x4d\x18' },
  { name: 'a PDF document', format: undefined, start: '%PDF-' },
];

export interface FormatClues {
  /** `format=`, which decides. */
  readonly asked: FileFormatName | undefined;
  readonly contentType: string | undefined;
  /** The first that is known by its ending counts. */
  readonly names: readonly (string | undefined)[];
}

/** The format that the sender names; undefined if only the bytes can show it. */
export function namedFormat({ asked, contentType, names }: FormatClues): FileFormatName | undefined {
  if (asked !== undefined) return asked;
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const format =
    byMediaType.get(mediaType) ?? names.map((name) => formatOfName(name ?? '')).find((found) => found !== undefined);
  if (format !== undefined || silentMediaTypes.has(mediaType)) return format;
  throw new AppError('unsupported_format', `a body of the type ${mediaType.slice(0, 100)} cannot be read`, {
    hint: `name its format: format=${fileFormats.join(', format=')}`,
  });
}

/** The format of the bytes: the named one, unless they are plainly of another. */
export function formatOf(named: FileFormatName | undefined, head: Buffer): FileFormatName {
  const text = head.toString('latin1');
  const signature = signatures.find(({ start }) => text.startsWith(start));
  if (signature !== undefined && signature.format === undefined) {
    throw new AppError('unsupported_format', `the body is ${signature.name}`, {
      hint: `unpack it; what can be read is ${fileFormats.join(', ')}, as it is or packed with gzip or zstd`,
    });
  }
  if (named === undefined) return signature?.format ?? (/^(?:\xef\xbb\xbf)?\s*[{[]/.test(text) ? 'json' : 'csv');
  const isBinary = named === 'parquet' || named === 'arrow';
  const isOther = isBinary ? named === 'parquet' && !text.startsWith('PAR1') : signature !== undefined;
  if (!isOther) return named;
  throw new AppError('invalid_input', wrongBytes(named, signature), {
    hint: 'leave out format and Content-Type, or name the right one',
  });
}

function wrongBytes(named: FileFormatName, signature: Signature | undefined): string {
  return signature === undefined ? 'the body is not a Parquet file' : `the body is ${signature.name}, not ${named}`;
}

/** The compression of a file that only its first bytes show (`trades.csv.gz`). */
export function packingOf(head: Buffer): 'gzip' | 'zstd' | undefined {
  if (head.length < 4) return undefined;
  if (head.readUIntBE(0, 3) === 0x1f8b08) return 'gzip';
  return head.readUInt32LE(0) === 0xfd2f_b528 ? 'zstd' : undefined;
}
