import { takeMemory } from './spare-memory.ts';

const FIRST_BYTES = 64 * 1024;
const KEPT_BYTES = 4 * 1024 * 1024;

const NULL = Uint8Array.from([110, 117, 108, 108]);

/**
 * Bytes that grow at their end. Where that end is travels as `at` through all writers: each takes it, reserves the
 * most that it may need, and returns where its own bytes end. Kept in a field it would cost more than the bytes do.
 * The view is a DataView because that stores up to eight bytes at once wherever they fall.
 */
export class ByteSink {
  bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.bytes.buffer);
  #capacity = FIRST_BYTES;

  reserve(at: number, count: number): DataView {
    if (at + count > this.#capacity) this.#replace(at, Math.max(at + count, this.#capacity * 2));
    return this.#view;
  }

  byte(at: number, value: number): number {
    this.reserve(at, 1).setUint8(at, value);
    return at + 1;
  }

  /** For short constants; `set` costs more than this loop. */
  copy(at: number, source: Uint8Array): number {
    const count = source.length;
    const out = this.reserve(at, count);
    for (let i = 0; i < count; i++) out.setUint8(at + i, source[i] as number);
    return at + count;
  }

  ascii(at: number, text: string): number {
    const count = text.length;
    const out = this.reserve(at, count);
    for (let i = 0; i < count; i++) out.setUint8(at + i, text.charCodeAt(i));
    return at + count;
  }

  null(at: number): number {
    return this.copy(at, NULL);
  }

  /** The bytes [from, to), in memory of their own. */
  take(from: number, to: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(takeMemory(to - from), 0, to - from);
    taken.set(this.bytes.subarray(from, to));
    if (this.#capacity > KEPT_BYTES) this.#replace(0, FIRST_BYTES);
    return taken;
  }

  #replace(at: number, capacity: number): void {
    const bytes = new Uint8Array(capacity);
    bytes.set(this.bytes.subarray(0, at));
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer);
    this.#capacity = capacity;
  }
}
