const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Deeper values are refused: to read them takes a stack. */
const mostDepth = 500;

/** What is wrong with a JSON text. */
export class JsonFault extends Error {}

/** A value does not end in the bytes that are here. */
export class MoreNeeded extends Error {}
const moreNeeded = new MoreNeeded();

/** Where the JSON value ends that begins at `at`. Throws a JsonFault, or MoreNeeded. The bytes need not be UTF-8. */
export function jsonValueEnd(bytes: Uint8Array, at: number, depth = 0): number {
  if (depth > mostDepth) throw new JsonFault(`values are nested more than ${mostDepth} deep`);
  switch (byteAt(bytes, at)) {
    case QUOTE:
      return stringEnd(bytes, at + 1);
    case OPEN_BRACE:
      return membersEnd(bytes, at + 1, CLOSE_BRACE, depth);
    case OPEN_BRACKET:
      return membersEnd(bytes, at + 1, CLOSE_BRACKET, depth);
    case 116:
      return wordEnd(bytes, at, 'true');
    case 102:
      return wordEnd(bytes, at, 'false');
    case 110:
      return wordEnd(bytes, at, 'null');
    default:
      return numberEnd(bytes, at);
  }
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}

function byteAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) throw moreNeeded;
  return bytes[at] as number;
}

function membersEnd(bytes: Uint8Array, from: number, closer: number, depth: number): number {
  let at = skipSpace(bytes, from);
  if (byteAt(bytes, at) === closer) return at + 1;
  for (;;) {
    if (closer === CLOSE_BRACE) {
      if (byteAt(bytes, at) !== QUOTE) throw new JsonFault('a key must stand in double quotes');
      at = skipSpace(bytes, stringEnd(bytes, at + 1));
      if (byteAt(bytes, at) !== COLON) throw new JsonFault('a colon must follow a key');
      at = skipSpace(bytes, at + 1);
    }
    at = skipSpace(bytes, jsonValueEnd(bytes, at, depth + 1));
    const byte = byteAt(bytes, at);
    if (byte === closer) return at + 1;
    if (byte !== COMMA) throw new JsonFault('a comma or a closing bracket is missing between values');
    at = skipSpace(bytes, at + 1);
  }
}

function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) return at + 1;
    if (byte < 32) throw new JsonFault('a string holds a line end or a control character that is not escaped');
    at = byte === BACKSLASH ? escapeEnd(bytes, at + 1) : at + 1;
  }
}

function escapeEnd(bytes: Uint8Array, at: number): number {
  const letter = String.fromCharCode(byteAt(bytes, at));
  if ('"\\/bfnrt'.includes(letter)) return at + 1;
  if (letter !== 'u') throw new JsonFault('a string holds an escape that JSON does not know');
  const unit = escapedUnit(bytes, at + 1);
  const end = at + 5;
  if (unit < 0xd800 || unit > 0xdfff) return end;
  const isPair =
    unit < 0xdc00 && byteAt(bytes, end) === BACKSLASH && byteAt(bytes, end + 1) === 117 && isLowHalf(bytes, end + 2);
  if (!isPair) throw new JsonFault('a string holds half of a surrogate pair');
  return end + 6;
}

function isLowHalf(bytes: Uint8Array, at: number): boolean {
  const unit = escapedUnit(bytes, at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function escapedUnit(bytes: Uint8Array, at: number): number {
  byteAt(bytes, at + 3);
  const digits = String.fromCharCode(...bytes.subarray(at, at + 4));
  if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw new JsonFault('four hexadecimal digits must follow \\u');
  return Number.parseInt(digits, 16);
}

function wordEnd(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 1; index < word.length; index++) {
    if (byteAt(bytes, at + index) !== word.charCodeAt(index)) throw notAValue(bytes, at);
  }
  return at + word.length;
}

function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 45 ? start + 1 : start;
  const first = byteAt(bytes, at);
  if (!isDigit(first)) throw notAValue(bytes, start);
  at = first === 48 ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === 46) at = someDigitsEnd(bytes, at + 1);
  if (bytes[at] === 101 || bytes[at] === 69) {
    const sign = byteAt(bytes, at + 1);
    at = someDigitsEnd(bytes, sign === 43 || sign === 45 ? at + 2 : at + 1);
  }
  const next = bytes[at];
  if (next !== undefined && (isDigit(next) || next === 46)) throw notAValue(bytes, start);
  return at;
}

function someDigitsEnd(bytes: Uint8Array, at: number): number {
  if (!isDigit(byteAt(bytes, at))) throw new JsonFault('digits are missing in a number');
  return digitsEnd(bytes, at);
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

function notAValue(bytes: Uint8Array, at: number): JsonFault {
  let end = at;
  while (
    end < bytes.length &&
    end < at + 20 &&
    !isSpace(bytes[end]) &&
    !',:{}[]"'.includes(String.fromCharCode(bytes[end] ?? 0))
  )
    end++;
  const shown = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.max(1, end - at)).toString();
  return new JsonFault(`${JSON.stringify(shown)} is not a JSON value`);
}
