/** Reads a stream of chunks by numbers of bytes. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #ahead: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** The next bytes, which stay to be read; fewer where the stream ends before. */
  async peek(length: number): Promise<Buffer> {
    while (this.#ahead.length < length) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      this.#ahead = Buffer.concat([this.#ahead, chunk]);
    }
    return this.#ahead.subarray(0, length);
  }

  /** The next bytes; fewer where the stream ends before. */
  async read(length: number): Promise<Buffer> {
    if (this.#ahead.length >= length) return this.#take(length);
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    for (;;) {
      filled += this.#take(Math.min(this.#ahead.length, length - filled)).copy(bytes, filled);
      if (filled === length) return bytes;
      const chunk = await this.#next();
      if (chunk === undefined) return bytes.subarray(0, filled);
      this.#ahead = chunk;
    }
  }

  /** All that is left, as it comes. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      if (this.#ahead.length > 0) yield this.#take(this.#ahead.length);
      for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk;
    } finally {
      await this.#chunks.return?.();
    }
  }

  #take(length: number): Buffer {
    const bytes = this.#ahead.subarray(0, length);
    this.#ahead = this.#ahead.subarray(length);
    return bytes;
  }

  async #next(): Promise<Buffer | undefined> {
    const step = await this.#chunks.next();
    if (step.done === true) return undefined;
    const { buffer, byteOffset, byteLength } = step.value;
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}
