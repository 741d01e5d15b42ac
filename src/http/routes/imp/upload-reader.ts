const nothing = Buffer.alloc(0);

/** Looks ahead into bytes that come in pieces. */
export class UploadReader {
  readonly #source: AsyncIterator<Buffer>;
  #buffered: Buffer = nothing;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** What has come and was not taken yet. */
  get buffered(): Buffer {
    return this.#buffered;
  }

  /** False: the end came before there were so many bytes. */
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

  /** Of those buffered; `fill` first. */
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

  /** Nothing more is wanted of the source. Does not wait for what may never come. */
  release(): void {
    this.#source.return?.().catch(() => {});
  }
}
