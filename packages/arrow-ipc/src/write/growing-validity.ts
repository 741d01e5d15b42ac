import { countOnes, GrowingBits } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';

/** Which rows are present. The bitmap begins with the first batch that has one. */
export class GrowingValidity {
  readonly #bits = new GrowingBits();
  rows = 0;

  append(validity: Uint8Array | null, from: number, to: number): void {
    if (validity !== null) {
      this.#fill();
      this.#bits.append(validity, from, to);
    }
    this.rows += to - from;
  }

  /** Writes node and bitmap, and starts anew. */
  take(body: BodyLayout): void {
    const { rows } = this;
    const hasBitmap = this.#bits.count > 0;
    if (hasBitmap) this.#fill();
    this.rows = 0;
    const bits = this.#bits.take();
    const nulls = hasBitmap ? rows - countOnes(bits) : 0;
    body.node(rows, nulls);
    if (nulls === 0) body.emptyBuffer();
    else body.buffer(bits, Math.ceil(rows / 8));
  }

  #fill(): void {
    if (this.#bits.count < this.rows) this.#bits.appendOnes(this.rows - this.#bits.count);
  }
}
