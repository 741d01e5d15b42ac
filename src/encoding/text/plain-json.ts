import { BACKSLASH, ZERO } from '@framehold/columns';
import { JsonFault, jsonValueEnd, MoreNeeded } from '../json/json-grammar.ts';

const SMALL_E = 101;
const SMALL_U = 117;
/** More digits in a row may be a number that the engine reads otherwise. */
const mostDigits = 18;

/** Whether the bytes [from, end) are one JSON value that every parser takes as it stands: no escapes of code units, no large numbers. */
export function isPlainJson(bytes: Uint8Array, from: number, end: number): boolean {
  if (plainValueEnd(bytes, from, end) !== end) return false;
  let digits = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte >= ZERO && byte <= ZERO + 9) {
      if (++digits > mostDigits) return false;
      continue;
    }
    if (digits > 0 && (byte | 0x20) === SMALL_E) return false;
    if (byte === BACKSLASH && bytes[at + 1] === SMALL_U) return false;
    // Lines inside a value would have to be joined.
    if (byte < 32) return false;
    digits = 0;
  }
  return true;
}

/** Where the JSON value at `from` ends; -1 where there is none. */
export function plainValueEnd(bytes: Uint8Array, from: number, end: number): number {
  try {
    return jsonValueEnd(bytes, from, end);
  } catch (error) {
    if (error instanceof JsonFault || error instanceof MoreNeeded) return -1;
    throw error;
  }
}
