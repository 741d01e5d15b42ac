import { crc32 } from 'node:zlib';
import type { Producer } from '../../core/callers/producer.ts';

/** Rows that were made durable together. */
export interface LogRecord {
  /** The number of its first row within the lineage. */
  readonly firstRow: number;
  readonly rows: number;
  /** The version of the frame that has these rows last. */
  readonly version: number;
  /** Appends of producers among them. */
  readonly producers: readonly Producer[];
  /** A record batch message of Arrow IPC. */
  readonly message: Uint8Array;
}

/** The head of a log file. */
export interface LogHeader {
  readonly lineage: string;
  /** The first row that may stand in this file. Rows from here on count in no file of before. */
  readonly startRow: number;
}

const magic = Buffer.from('FHLOG\0\0\u0001', 'latin1');
/** Length of the payload, its checksum. */
const frameBytes = 8;
/** firstRow, rows, version as doubles; length of the producers' JSON as u32, zero as u32. */
const fixedBytes = 32;
const alignment = 8;
const longestPayload = 2 ** 30;

export function encodeHeader(header: LogHeader): Uint8Array {
  const [frame, ...payload] = framed([Buffer.from(JSON.stringify(header))]);
  return Buffer.concat([magic, frame as Uint8Array, ...payload]);
}

/** The bytes of a record, one piece behind the other. Their length is a multiple of 8. */
export function encodeRecord({ firstRow, rows, version, producers, message }: LogRecord): Uint8Array[] {
  const json = producers.length === 0 ? new Uint8Array(0) : Buffer.from(JSON.stringify(producers));
  const fixed = Buffer.alloc(fixedBytes + padded(json.length));
  fixed.writeDoubleLE(firstRow, 0);
  fixed.writeDoubleLE(rows, 8);
  fixed.writeDoubleLE(version, 16);
  fixed.writeUInt32LE(json.length, 24);
  fixed.set(json, fixedBytes);
  return framed([fixed, message]);
}

export interface DecodedLog {
  /** Undefined where not even the header was written whole. */
  readonly header: LogHeader | undefined;
  readonly records: readonly LogRecord[];
  /** The end of the last whole record. */
  readonly endOffset: number;
  /** Bytes follow a record that is not as it was written: not a write that was cut off, which is always the last. */
  readonly isDamaged: boolean;
}

/** Reads a whole log file, as far as it was written. `bytes` begin at a multiple of 8 in their memory. */
export function decodeLog(bytes: Buffer): DecodedLog {
  const head = bytes.subarray(0, magic.length).equals(magic) ? payloadAt(bytes, magic.length) : undefined;
  if (head?.payload === undefined) {
    // The file gets its name when the header is on the disk.
    return { header: undefined, records: [], endOffset: 0, isDamaged: true };
  }
  const header = JSON.parse(trimmed(head.payload)) as LogHeader;
  const records: LogRecord[] = [];
  let at = head.end;
  for (;;) {
    const next = payloadAt(bytes, at);
    if (next?.payload === undefined) {
      const isLast = next === undefined || next.end >= bytes.length;
      return { header, records, endOffset: at, isDamaged: !isLast || hasRecordBehind(bytes, at) };
    }
    records.push(decodeRecord(next.payload));
    at = next.end;
  }
}

function decodeRecord(payload: Buffer): LogRecord {
  const jsonBytes = payload.readUInt32LE(24);
  const json = payload.subarray(fixedBytes, fixedBytes + jsonBytes);
  return {
    firstRow: payload.readDoubleLE(0),
    rows: payload.readDoubleLE(8),
    version: payload.readDoubleLE(16),
    producers: jsonBytes === 0 ? [] : (JSON.parse(json.toString()) as Producer[]),
    message: payload.subarray(fixedBytes + padded(jsonBytes)),
  };
}

/** Undefined at the end of the written bytes; without `payload` if the checksum is wrong. */
function payloadAt(
  bytes: Buffer,
  at: number,
): { readonly payload: Buffer | undefined; readonly end: number } | undefined {
  if (at + frameBytes > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length === 0 || length > longestPayload) return undefined;
  const end = at + frameBytes + length;
  if (end > bytes.length) return undefined;
  const payload = bytes.subarray(at + frameBytes, end);
  return { payload: crc32(payload) === bytes.readUInt32LE(at + 4) ? payload : undefined, end };
}

/** Whether a whole record follows somewhere: then the one here was whole too, and its length is not as it was written. */
function hasRecordBehind(bytes: Buffer, at: number): boolean {
  for (let from = at + alignment; from + frameBytes + fixedBytes <= bytes.length; from += alignment) {
    if (mayBeRecord(bytes, from + frameBytes) && payloadAt(bytes, from)?.payload !== undefined) return true;
  }
  return false;
}

/** By its numbers: the checksum of everything that could be a length would take long. */
function mayBeRecord(bytes: Buffer, at: number): boolean {
  const version = bytes.readDoubleLE(at + 16);
  return (
    version >= 1 &&
    Number.isSafeInteger(version) &&
    Number.isSafeInteger(bytes.readDoubleLE(at)) &&
    Number.isSafeInteger(bytes.readDoubleLE(at + 8)) &&
    bytes.readUInt32LE(at + 28) === 0
  );
}

function framed(pieces: readonly Uint8Array[]): Uint8Array[] {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const rest = new Uint8Array(padded(bytes) - bytes);
  const all = rest.length === 0 ? pieces : [...pieces, rest];
  let checksum = 0;
  for (const piece of all) checksum = crc32(piece, checksum);
  const frame = Buffer.alloc(frameBytes);
  frame.writeUInt32LE(bytes + rest.length, 0);
  frame.writeUInt32LE(checksum, 4);
  return [frame, ...all];
}

function padded(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function trimmed(payload: Buffer): string {
  return payload.toString().replace(/\0+$/, '');
}
