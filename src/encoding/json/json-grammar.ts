import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '@framehold/columns';

/** Deeper values are refused: to read them takes a stack. */
const mostDepth = 500;

/** A fault of a JSON text. */
export class JsonFault extends Error {}

/** A value does not end in the bytes that are here. */
export class MoreNeeded extends Error {}
const moreNeeded = new MoreNeeded();

/** Whether JSON.parse accepts the bytes [start, end), which are valid UTF-8, at a fraction of its cost. */
export function isJson(bytes: Uint8Array, start: number, end: number): boolean {
  try {
    return skipSpace(bytes, jsonValueEnd(bytes, skipSpace(bytes, start, end), end), end) === end;
  } catch {
    // It also takes deeper values, and halves of surrogate pairs.
    return isParsed(Buffer.from(bytes.subarray(start, end)).toString());
  }
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The end of the JSON value that begins at `at`. Throws a JsonFault, or MoreNeeded. The bytes need not be UTF-8. */
export function jsonValueEnd(bytes: Uint8Array, at: number, end = bytes.length, depth = 0): number {
  if (depth > mostDepth) throw new JsonFault(`values are nested more than ${mostDepth} deep`);
  switch (byteAt(bytes, at, end)) {
    case QUOTE:
      return stringEnd(bytes, at + 1, end);
    case OPEN_BRACE:
      return membersEnd(bytes, at + 1, end, CLOSE_BRACE, depth);
    case OPEN_BRACKET:
      return membersEnd(bytes, at + 1, end, CLOSE_BRACKET, depth);
    case 116:
      return wordEnd(bytes, at, end, 'true');
    case 102:
      return wordEnd(bytes, at, end, 'false');
    case 110:
      return wordEnd(bytes, at, end, 'null');
    default:
      return numberEnd(bytes, at, end);
  }
}

export function skipSpace(bytes: Uint8Array, from: number, end = bytes.length): number {
  let at = from;
  while (at < end && isSpace(bytes[at] as number)) at++;
  return at;
}

export function isSpace(byte: number): boolean {
  return byte <= 32 && (byte === 32 || byte === 10 || byte === 13 || byte === 9);
}

function byteAt(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) throw moreNeeded;
  return bytes[at] as number;
}

function membersEnd(bytes: Uint8Array, from: number, end: number, closer: number, depth: number): number {
  let at = skipSpace(bytes, from, end);
  if (byteAt(bytes, at, end) === closer) return at + 1;
  for (;;) {
    if (closer === CLOSE_BRACE) {
      if (byteAt(bytes, at, end) !== QUOTE) throw new JsonFault('a key must stand in double quotes');
      at = skipSpace(bytes, stringEnd(bytes, at + 1, end), end);
      if (byteAt(bytes, at, end) !== COLON) throw new JsonFault('a colon must follow a key');
      at = skipSpace(bytes, at + 1, end);
    }
    at = skipSpace(bytes, jsonValueEnd(bytes, at, end, depth + 1), end);
    const byte = byteAt(bytes, at, end);
    if (byte === closer) return at + 1;
    if (byte !== COMMA) throw new JsonFault('a comma or a closing bracket is missing between values');
    at = skipSpace(bytes, at + 1, end);
  }
}

function stringEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; ) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < 32) throw new JsonFault('a string holds a line end or a control character that is not escaped');
    at = byte === BACKSLASH ? escapeEnd(bytes, at + 1, end) : at + 1;
  }
  throw moreNeeded;
}

function escapeEnd(bytes: Uint8Array, at: number, end: number): number {
  const letter = String.fromCharCode(byteAt(bytes, at, end));
  if ('"\\/bfnrt'.includes(letter)) return at + 1;
  if (letter !== 'u') throw new JsonFault('a string holds an escape that JSON does not know');
  const unit = escapedUnit(bytes, at + 1, end);
  const next = at + 5;
  if (unit < 0xd800 || unit > 0xdfff) return next;
  const isPair = unit < 0xdc00 && byteAt(bytes, next, end) === BACKSLASH && byteAt(bytes, next + 1, end) === 117;
  const low = isPair ? escapedUnit(bytes, next + 2, end) : 0;
  if (low < 0xdc00 || low > 0xdfff) throw new JsonFault('a string holds half of a surrogate pair');
  return next + 6;
}

function escapedUnit(bytes: Uint8Array, at: number, end: number): number {
  byteAt(bytes, at + 3, end);
  const digits = String.fromCharCode(...bytes.subarray(at, at + 4));
  if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw new JsonFault('four hexadecimal digits must follow \\u');
  return Number.parseInt(digits, 16);
}

function wordEnd(bytes: Uint8Array, at: number, end: number, word: string): number {
  for (let index = 1; index < word.length; index++) {
    if (byteAt(bytes, at + index, end) !== word.charCodeAt(index)) throw notAValue(bytes, at, end);
  }
  return at + word.length;
}

function numberEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = bytes[start] === 45 ? start + 1 : start;
  const first = byteAt(bytes, at, end);
  if (!isDigit(first)) throw notAValue(bytes, start, end);
  at = first === 48 ? at + 1 : digitsEnd(bytes, at, end);
  if (at < end && bytes[at] === 46) at = someDigitsEnd(bytes, at + 1, end);
  if (at < end && (bytes[at] === 101 || bytes[at] === 69)) {
    const sign = byteAt(bytes, at + 1, end);
    at = someDigitsEnd(bytes, sign === 43 || sign === 45 ? at + 2 : at + 1, end);
  }
  if (at < end && (isDigit(bytes[at] as number) || bytes[at] === 46)) throw notAValue(bytes, start, end);
  return at;
}

function someDigitsEnd(bytes: Uint8Array, at: number, end: number): number {
  if (!isDigit(byteAt(bytes, at, end))) throw new JsonFault('digits are missing in a number');
  return digitsEnd(bytes, at, end);
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isDigit(bytes[at] as number)) at++;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

function notAValue(bytes: Uint8Array, at: number, end: number): JsonFault {
  const most = Math.min(end, at + 20);
  let stop = at;
  while (stop < most && !' \n\r\t,:{}[]"'.includes(String.fromCharCode(bytes[stop] as number))) stop++;
  const shown = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.max(1, stop - at)).toString();
  return new JsonFault(`${JSON.stringify(shown)} is not a JSON value`);
}
