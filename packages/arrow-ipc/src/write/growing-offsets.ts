import { GrowingBytes } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';

const MAX_OFFSET = 2 ** 31 - 1;

/** The end of each value, counted from the first row. */
export class GrowingOffsets {
  readonly #store = new GrowingBytes();
  #values = new Int32Array(0);
  #last = 0;

  append(offsets: Int32Array, from: number, to: number): void {
    if (this.#store.length === 0) this.#begin();
    const start = this.#extend(to - from);
    const values = this.#values;
    const shift = this.#last - (offsets[from] as number);
    const last = (offsets[to] as number) + shift;
    if (last > MAX_OFFSET) throw new RangeError('more than 2 GiB of one column in a record batch');
    if (shift === 0) values.set(offsets.subarray(from + 1, to + 1), start);
    else {
      for (let i = start, row = from + 1; row <= to; i++, row++) values[i] = (offsets[row] as number) + shift;
    }
    this.#last = last;
  }

  take(body: BodyLayout): void {
    // Readers differ on whether no rows may have no offsets.
    if (this.#store.length === 0) this.#begin();
    const { length } = this.#store;
    body.buffer(this.#store.take(), length);
    this.#last = 0;
  }

  #begin(): void {
    const at = this.#extend(1);
    this.#values[at] = 0;
  }

  #extend(count: number): number {
    const start = this.#store.extend(count * 4);
    const { buffer } = this.#store.bytes;
    if (this.#values.buffer !== buffer) this.#values = new Int32Array(buffer);
    return start / 4;
  }
}
