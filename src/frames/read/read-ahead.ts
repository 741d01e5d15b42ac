const mostChunks = 4096;
const quickBytesPerMs = 8192;

/** Adapts to the speed of a consumer: fast ones get longer runs and one run ahead, slow ones hold a single chunk. */
export class ReadAhead {
  /** Chunks for the next run. */
  chunks: number;
  isFast = false;
  #bytes = 0;
  #consumerMs = 0;
  #sentAt = 0;

  /** `isWhole`: such a reader mostly reads all rows in one go. */
  constructor({ isWhole }: { readonly isWhole: boolean }) {
    this.chunks = isWhole ? mostChunks : 1;
  }

  sent(bytes: number): void {
    this.#bytes += bytes;
    this.#sentAt = performance.now();
  }

  resumed(): void {
    this.#consumerMs += performance.now() - this.#sentAt;
  }

  runEnded(): void {
    this.isFast = this.#bytes >= this.#consumerMs * quickBytesPerMs;
    this.chunks = this.isFast ? Math.min(mostChunks, this.chunks * 2) : 1;
    this.#bytes = 0;
    this.#consumerMs = 0;
  }
}
