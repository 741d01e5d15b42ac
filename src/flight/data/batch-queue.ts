const mostBatches = 64;
const mostBytes = 8 * 1024 * 1024;

/** Batches that are read ahead of a slower reader, up to a number and a size. The reader releases each. */
export class BatchQueue<Item extends { readonly bytes: number }> {
  readonly #items: Item[] = [];
  /** Batches that were taken and not released count, too. */
  readonly #unreleased: number[] = [];
  #bytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #isClosed = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  /** The reader has ended. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when there is room for another batch, or the reader has ended. */
  async add(item: Item): Promise<void> {
    this.#push(item);
    while (!this.#isClosed && (this.#unreleased.length >= mostBatches || this.#bytes >= mostBytes)) {
      await this.#released();
    }
  }

  /** Resolves when the item and all before it are released. */
  async addAlone(item: Item): Promise<void> {
    this.#push(item);
    while (!this.#isClosed && this.#unreleased.length > 0) await this.#released();
  }

  end(): void {
    this.#end ??= {};
    this.#wakeReader?.();
  }

  /** The reader gets the error behind the batches that were added before. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wakeReader?.();
  }

  /** Undefined at the end. Rejects with the error of the writer. */
  async next(): Promise<Item | undefined> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  /** The oldest taken batch is no longer used. */
  release(): void {
    this.#bytes -= this.#unreleased.shift() ?? 0;
    this.#wakeWriter?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeWriter?.();
  }

  #push(item: Item): void {
    this.#items.push(item);
    this.#unreleased.push(item.bytes);
    this.#bytes += item.bytes;
    this.#wakeReader?.();
  }

  #released(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeWriter = resolve;
    });
  }
}
