import { GrowingBytes } from './growing-bytes.ts';

/** Bits, LSB first. Those behind the last one are zero. */
export class GrowingBits {
  readonly #store = new GrowingBytes();
  count = 0;

  append(source: Uint8Array, from: number, to: number): void {
    const start = this.count;
    const { bytes, at, end } = this.#extend(to - from);
    const shift = start & 7;
    if ((shift | (from & 7)) === 0) bytes.set(source.subarray(from >> 3, (to + 7) >> 3), at);
    else if (shift === 0) shiftBytes(source, from, bytes, at, end);
    else {
      bytes[at] = (bytes[at] as number) | (bitsAt(source, from) << shift);
      shiftBytes(source, from + 8 - shift, bytes, at + 1, end);
    }
    this.#clearTail(bytes);
  }

  appendOnes(count: number): void {
    const shift = this.count & 7;
    const { bytes, at, end } = this.#extend(count);
    if (shift === 0) bytes.fill(255, at, end);
    else {
      bytes[at] = (bytes[at] as number) | (255 << shift);
      bytes.fill(255, at + 1, end);
    }
    this.#clearTail(bytes);
  }

  /** Padded to a multiple of 64 bytes. */
  take(): Uint8Array<ArrayBuffer> {
    this.count = 0;
    return this.#store.take();
  }

  /** `at` is the first byte to write, which may hold earlier bits; `end` the first behind the last one. */
  #extend(count: number): { readonly bytes: Uint8Array; readonly at: number; readonly end: number } {
    const at = this.count >> 3;
    this.count += count;
    const end = (this.count + 7) >> 3;
    this.#store.extend(end - this.#store.length);
    return { bytes: this.#store.bytes, at, end };
  }

  #clearTail(bytes: Uint8Array): void {
    const used = this.count & 7;
    const last = this.count >> 3;
    if (used !== 0) bytes[last] = (bytes[last] as number) & ((1 << used) - 1);
  }
}

function shiftBytes(source: Uint8Array, from: number, out: Uint8Array, start: number, end: number): void {
  const shift = from & 7;
  let byte = from >> 3;
  let low = source[byte] ?? 0;
  for (let at = start; at < end; at++) {
    const high = ++byte < source.length ? (source[byte] as number) : 0;
    out[at] = (low | (high << 8)) >> shift;
    low = high;
  }
}

/** Eight bits from any place. */
function bitsAt(source: Uint8Array, from: number): number {
  const byte = from >> 3;
  return (((source[byte] ?? 0) | ((source[byte + 1] ?? 0) << 8)) >> (from & 7)) & 255;
}

/** Set bits of a buffer that starts its own memory and has a length that is a multiple of 64. */
export function countOnes(bytes: Uint8Array<ArrayBuffer>): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let ones = 0;
  for (let i = 0; i < words.length; i++) {
    let word = words[i] as number;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    ones += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return ones;
}
