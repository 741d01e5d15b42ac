import { BACKSLASH, type ByteSink, QUOTE } from '@framehold/columns';

const UNICODE = 117;
const PIECE_BYTES = 4096;
const HIGH_BITS = 0x80808080 | 0;

/** The character behind the backslash for a byte: 0 if it needs none, `u` before four hex digits. */
const ESCAPES = new Uint8Array(256);
ESCAPES.fill(UNICODE, 0, 0x20);
for (const [raw, letter] of ['\bb', '\tt', '\nn', '\ff', '\rr', '""', '\\\\']) {
  ESCAPES[(raw as string).charCodeAt(0)] = (letter as string).charCodeAt(0);
}
const HEX = new TextEncoder().encode('0123456789abcdef');

/** Writes the bytes [start, end), which are valid UTF-8, as a JSON string at `at`; returns where it ends. */
export function writeJsonString(sink: ByteSink, at: number, data: DataView, start: number, end: number): number {
  let to = Math.min(end, start + PIECE_BYTES);
  let out = sink.reserve(at, (to - start) * 6 + 8);
  out.setUint8(at, QUOTE);
  at = writeEscaped(out, at + 1, data, start, to);
  while (to < end) {
    const from = to;
    to = Math.min(end, from + PIECE_BYTES);
    out = sink.reserve(at, (to - from) * 6 + 8);
    at = writeEscaped(out, at, data, from, to);
  }
  out.setUint8(at, QUOTE);
  return at + 1;
}

function writeEscaped(out: DataView, at: number, data: DataView, from: number, to: number): number {
  let i = from;
  for (; i + 4 <= to; i += 4) {
    const word = data.getInt32(i, true);
    out.setInt32(at, word, true);
    at = strangeBytes(word) === 0 ? at + 4 : writeBytes(out, at, data, i, i + 4);
  }
  const left = to - i;
  if (left === 0) return at;
  if (i + 4 > data.byteLength) return writeBytes(out, at, data, i, to);
  // The last word reaches into the next value, where nothing counts.
  const word = data.getInt32(i, true);
  out.setInt32(at, word, true);
  return (strangeBytes(word) & ((1 << (left * 8)) - 1)) === 0 ? at + left : writeBytes(out, at, data, i, to);
}

/**
 * Not 0 when one of four bytes needs an escape: is below a space, a quote or a backslash. A byte above such a one may
 * be marked without need, one below it never is.
 */
function strangeBytes(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const marks =
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return marks & HIGH_BITS;
}

function writeBytes(out: DataView, at: number, data: DataView, from: number, to: number): number {
  for (let i = from; i < to; i++) {
    const byte = data.getUint8(i);
    const letter = ESCAPES[byte] as number;
    if (letter === 0) {
      out.setUint8(at++, byte);
      continue;
    }
    out.setUint8(at++, BACKSLASH);
    out.setUint8(at++, letter);
    if (letter === UNICODE) {
      out.setUint16(at, 0x3030);
      out.setUint8(at + 2, HEX[byte >> 4] as number);
      out.setUint8(at + 3, HEX[byte & 15] as number);
      at += 4;
    }
  }
  return at;
}
