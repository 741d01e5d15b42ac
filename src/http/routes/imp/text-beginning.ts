import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, LF, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '@framehold/columns';
import { isSpace } from '../../../encoding/json/json-grammar.ts';

/** The records of a CSV that are whole in its first bytes. */
export function wholeRecords(bytes: Buffer): Buffer {
  let end = 0;
  let isQuoted = false;
  for (const [at, byte] of bytes.entries()) {
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === LF && !isQuoted) end = at + 1;
  }
  // A lone quote somewhere turns everything behind it around.
  return bytes.subarray(0, end > bytes.length / 2 ? end : bytes.lastIndexOf(LF) + 1);
}

/** The objects that are whole in the first bytes of a JSON, in an array where they stand in one. */
export function wholeObjects(bytes: Buffer): Buffer {
  const isArray = firstOf(bytes) === OPEN_BRACKET;
  const top = isArray ? 1 : 0;
  let end = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === top) end = at + 1;
    }
  }
  const whole = bytes.subarray(0, end);
  return isArray && end > 0 ? Buffer.concat([whole, Buffer.from(']')]) : whole;
}

function firstOf(bytes: Buffer): number | undefined {
  const start = bytes[0] === 0xef ? 3 : 0;
  return bytes.subarray(start).find((byte) => !isSpace(byte));
}
