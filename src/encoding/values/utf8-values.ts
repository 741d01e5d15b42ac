import { isAscii, isUtf8 } from 'node:buffer';
import { plainBytes, type Vector, viewOf } from '@framehold/columns';
import type { ValueWriter } from './cell.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * The text values of a vector. Files and clients may bring bytes that are no UTF-8, and one of them would spoil the
 * whole document, so all values are checked together: in valid UTF-8 a value is valid too unless it is cut out of the
 * middle of a character.
 */
export class Utf8Values {
  data = new Uint8Array(0);
  view: DataView = viewOf(this.data);
  offsets: Int32Array = new Int32Array(1);
  #allAscii = true;
  #validTogether = true;

  bind(vector: Vector): void {
    this.data = plainBytes(vector.data);
    this.view = viewOf(this.data);
    this.offsets = vector.offsets ?? new Int32Array(vector.length + 1);
    const all = this.data.subarray(this.offsets[0], this.offsets[vector.length]);
    this.#allAscii = isAscii(all);
    this.#validTogether = this.#allAscii || isUtf8(all);
  }

  isValid(start: number, end: number): boolean {
    if (this.#allAscii) return true;
    const { data } = this;
    if (!this.#validTogether) return isUtf8(data.subarray(start, end));
    if (start === end) return true;
    return !isContinuation(data[start] as number) && (end >= data.length || !isContinuation(data[end] as number));
  }

  /** The bytes [start, end) with U+FFFD in place of invalid UTF-8. */
  repaired(start: number, end: number): Uint8Array {
    return encoder.encode(decoder.decode(this.data.subarray(start, end)));
  }
}

/** Puts the bytes [start, end), which are valid UTF-8, at `at`; returns where they end. `data` is a view of `bytes`. */
export type WriteText = (at: number, data: DataView, start: number, end: number, bytes: Uint8Array) => number;

/** Writes each text of a vector, mended where it is no UTF-8. */
export function textWriter(writeText: WriteText): ValueWriter {
  const values = new Utf8Values();
  return {
    bind(vector) {
      values.bind(vector);
    },
    write(row, at) {
      const start = values.offsets[row] as number;
      const end = values.offsets[row + 1] as number;
      if (values.isValid(start, end)) return writeText(at, values.view, start, end, values.data);
      const text = values.repaired(start, end);
      return writeText(at, viewOf(text), 0, text.length, text);
    },
  };
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
