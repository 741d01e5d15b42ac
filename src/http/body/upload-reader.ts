const nothing = Buffer.alloc(0);

/** Looks ahead into bytes that arrive in pieces. */
export class UploadReader {
  readonly #source: AsyncIterator<Buffer>;
  #buffered: Buffer = nothing;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Received bytes that were not taken yet. */
  get buffered(): Buffer {
    return this.#buffered;
  }

  /** False: the source ended before `bytes` bytes. */
  async fill(bytes: number): Promise<boolean> {
    if (this.#buffered.length >= bytes) return true;
    const pieces = [this.#buffered];
    let length = this.#buffered.length;
    while (length < bytes) {
      const step = await this.#source.next();
      if (step.done === true) break;
      pieces.push(step.value);
      length += step.value.length;
    }
    const [first = nothing, second = nothing] = pieces;
    this.#buffered = pieces.length === 2 && first.length === 0 ? second : Buffer.concat(pieces, length);
    return length >= bytes;
  }

  /** Takes buffered bytes; call `fill` first. */
  take(bytes: number): Buffer {
    const taken = this.#buffered.subarray(0, bytes);
    this.#buffered = this.#buffered.subarray(bytes);
    return taken;
  }

  async *rest(): AsyncGenerator<Buffer, void, undefined> {
    try {
      while (await this.fill(1)) yield this.take(this.#buffered.length);
    } finally {
      this.release();
    }
  }

  /** Stops reading the source. Does not wait for bytes that may never come. */
  release(): void {
    this.#source.return?.().catch(() => {});
  }
}
