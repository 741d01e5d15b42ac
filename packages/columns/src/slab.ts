const firstBytes = 4096;

/** A piece of memory, at a multiple of 8, with views of all that it is part of. */
export interface SlabPiece {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** In bytes. */
  readonly start: number;
}

/** Memory for many small things: for each one of its own would take longer than to fill it. */
export class Slab {
  #bytes = new Uint8Array(firstBytes);
  #view = new DataView(this.#bytes.buffer);
  #used = 0;

  /** Zeroed. */
  take(bytes: number): SlabPiece {
    if (this.#used + bytes > this.#bytes.length) {
      this.#bytes = new Uint8Array(Math.max(bytes, 2 * this.#bytes.length));
      this.#view = new DataView(this.#bytes.buffer);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used = (start + bytes + 7) & ~7;
    return { bytes: this.#bytes, view: this.#view, start };
  }
}
