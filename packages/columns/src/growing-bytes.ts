import { takeMemory } from './spare-memory.ts';

/** Arrow's buffers end at a multiple of this. */
export const padding = 64;
const FIRST_BYTES = 1024;
const none = new Uint8Array(0);

/** Bytes that grow by doubling. After `take` they start anew, about as large as before. */
export class GrowingBytes {
  bytes: Uint8Array<ArrayBuffer> = none;
  length = 0;
  #nextCapacity = FIRST_BYTES;

  /** Makes room for `count` bytes at the end, with undefined content; returns their start. */
  extend(count: number): number {
    const start = this.length;
    this.length = start + count;
    if (this.length > this.bytes.length) this.#grow(start);
    return start;
  }

  append(source: Uint8Array, from: number, to: number): void {
    const start = this.extend(to - from);
    this.bytes.set(from === 0 && to === source.length ? source : source.subarray(from, to), start);
  }

  /** The bytes, with zeros up to a multiple of 64. */
  take(): Uint8Array<ArrayBuffer> {
    const end = paddedLength(this.length);
    const taken = this.bytes.subarray(0, end);
    taken.fill(0, this.length);
    this.#nextCapacity = paddedLength(Math.max(FIRST_BYTES, end + end / 8));
    this.bytes = none;
    this.length = 0;
    return taken;
  }

  #grow(used: number): void {
    const capacity = Math.max(this.#nextCapacity, this.bytes.length * 2, paddedLength(this.length));
    const larger = new Uint8Array(takeMemory(capacity));
    larger.set(this.bytes.subarray(0, used));
    this.bytes = larger;
  }
}

export function paddedLength(bytes: number): number {
  return Math.ceil(bytes / padding) * padding;
}
