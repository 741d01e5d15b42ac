import { isUtf8 } from 'node:buffer';
import { LineError } from './line-error.ts';

export const byte = {
  newline: 10,
  return: 13,
  space: 32,
  quote: 34,
  comma: 44,
  equals: 61,
  backslash: 92,
} as const;

/** Bytes that end a name or a tag's value, or need a check in it. */
export const stopsName = new Uint8Array(256);
for (const each of [byte.newline, byte.return, byte.space, byte.comma, byte.equals, byte.backslash])
  stopsName[each] = 1;

/** The same of a text in quotes. */
export const stopsQuoted = new Uint8Array(256);
for (const each of [byte.newline, byte.quote, byte.backslash]) stopsQuoted[each] = 1;

/**
 * Whether a backslash before it is dropped. QuestDB drops every one, InfluxDB keeps that before another one and before
 * line ends: their clients escape accordingly. Before anything else it stays, so that nothing is lost.
 */
const isEscaped = new Uint8Array(256);
for (const each of [...Object.values(byte)]) isEscaped[each] = 1;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of bytes [from, to), without the backslashes of its escapes. */
export function unescapedBytes(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const text = new Uint8Array(to - from);
  let length = 0;
  for (let at = from; at < to; at++) {
    if (bytes[at] === byte.backslash && at + 1 < to && isEscaped[bytes[at + 1] as number] === 1) at++;
    text[length++] = bytes[at] as number;
  }
  return text.subarray(0, length);
}

/** Longer ones are sooner decoded by the machine. */
const shortName = 64;

/** The name at [from, to). */
export function nameOf(bytes: Uint8Array, from: number, to: number): string {
  return plainName(bytes, from, to) ?? decodedName(bytes, from, to);
}

/** Nearly every name is short, of ASCII and without escapes: a decoder costs more than all of it. */
function plainName(bytes: Uint8Array, from: number, to: number): string | undefined {
  if (to - from > shortName) return undefined;
  let name = '';
  for (let at = from; at < to; at++) {
    const here = bytes[at] as number;
    if (here === byte.backslash || here > 127) return undefined;
    name += String.fromCharCode(here);
  }
  return name;
}

function decodedName(bytes: Uint8Array, from: number, to: number): string {
  return utf8.decode(unescapedBytes(bytes, from, to));
}

/** A few characters of the body, for a message. */
export function shownText(bytes: Uint8Array, from: number, to: number): string {
  const most = 60;
  const text = new TextDecoder().decode(bytes.subarray(from, Math.min(to, from + most)));
  return JSON.stringify(to - from > most ? `${text}…` : text);
}

/** The first of these lines that is not UTF-8, of which `line` is the number of the first. */
export function notUtf8(lines: Uint8Array, line: number): LineError {
  let number = line;
  for (let from = 0; from < lines.length; number++) {
    const end = lines.indexOf(byte.newline, from);
    const to = end < 0 ? lines.length : end;
    if (!isUtf8(lines.subarray(from, to))) break;
    from = to + 1;
  }
  return new LineError(number, 'the line is not UTF-8');
}
