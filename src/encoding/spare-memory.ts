/** Less is cheap to get anew. */
const leastBytes = 64 * 1024;
const mostPieces = 256;

/** Memory that was used and may be used again: fresh memory costs page faults and garbage collection. */
export class SpareMemory {
  readonly #spare: ArrayBuffer[] = [];

  /** At least so many bytes, with anything in them; undefined where nothing is left that fits. */
  take(bytes: number): ArrayBuffer | undefined {
    const index = this.#spare.findIndex(({ byteLength }) => byteLength >= bytes && byteLength <= bytes * 4);
    return index < 0 ? undefined : this.#spare.splice(index, 1)[0];
  }

  /** Nobody looks at these bytes any more, nor at others in the same memory. */
  give({ buffer }: Uint8Array): void {
    const isWanted = buffer.byteLength >= leastBytes && this.#spare.length < mostPieces;
    if (isWanted && buffer instanceof ArrayBuffer) this.#spare.push(buffer);
  }
}
