import koffi from 'koffi';
import { copyMemory } from '../c/c-api.ts';

const firstBytes = 64 * 1024;
const alignment = 64;
/** A larger one is not kept when its result is over. */
const mostKeptBytes = 4 * 1024 * 1024;
const mostSpare = 4;
const spare: NativeSlab[] = [];

/**
 * Memory of ours that native memory is copied into, piece behind piece, and used again for the next chunk: fresh
 * memory for each buffer costs more than the copy, in page faults and in garbage collection.
 */
export class NativeSlab {
  #memory = new ArrayBuffer(0);
  #address = 0;
  #used = 0;
  #copied = 0;

  /** A slab that is not in use. */
  static take(): NativeSlab {
    return spare.pop() ?? new NativeSlab();
  }

  /** For the next result. Nothing that was copied is looked at any more. */
  giveBack(): void {
    if (this.#memory.byteLength <= mostKeptBytes && spare.length < mostSpare) spare.push(this);
  }

  /** Everything copied so far may be overwritten from now on. */
  reset(): void {
    this.#used = 0;
    this.#copied = 0;
  }

  /** Bytes that were copied since the last reset. */
  get copied(): number {
    return this.#copied;
  }

  bytes(from: number, length: number): Uint8Array {
    const at = this.#copy(from, length);
    return new Uint8Array(this.#memory, at, length);
  }

  int32s(from: number, count: number): Int32Array {
    const at = this.#copy(from, count * 4);
    return new Int32Array(this.#memory, at, count);
  }

  /** Memory that holds anything. */
  room(bytes: number): Uint8Array {
    const at = this.#take(bytes);
    return new Uint8Array(this.#memory, at, bytes);
  }

  int32Room(count: number): Int32Array {
    const at = this.#take(count * 4);
    return new Int32Array(this.#memory, at, count);
  }

  /** Copies into a part of the newest room. */
  fill(room: Uint8Array, at: number, from: number, bytes: number): void {
    if (room.buffer !== this.#memory || at + bytes > room.length) throw new RangeError('this is no room for that');
    this.#copied += bytes;
    if (bytes > 0) copyMemory(this.#address + room.byteOffset + at, from, bytes);
  }

  #copy(from: number, bytes: number): number {
    const at = this.#take(bytes);
    this.#copied += bytes;
    if (bytes > 0) copyMemory(this.#address + at, from, bytes);
    return at;
  }

  #take(bytes: number): number {
    if (this.#used + bytes > this.#memory.byteLength) this.#replace(bytes);
    const at = this.#used;
    this.#used = Math.ceil((at + bytes) / alignment) * alignment;
    return at;
  }

  /** Views of the memory until now keep it alive. */
  #replace(bytes: number): void {
    this.#memory = new ArrayBuffer(Math.max(firstBytes, this.#memory.byteLength * 2, bytes));
    this.#address = Number(koffi.address(this.#memory));
    this.#used = 0;
  }
}
