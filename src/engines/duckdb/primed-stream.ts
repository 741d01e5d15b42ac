import { abortable } from '@framehold/async';

/** Larger pieces go to a worker in parts, so that it holds no more of them than it needs. */
const pieceBytes = 1024 * 1024;

/** A stream whose first piece has arrived: the wait for that holds no worker. */
export class PrimedStream implements AsyncIterable<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #first: IteratorResult<Uint8Array>;

  private constructor(iterator: AsyncIterator<Uint8Array>, first: IteratorResult<Uint8Array>) {
    this.#iterator = iterator;
    this.#first = first;
  }

  static async of(stream: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<PrimedStream> {
    signal.throwIfAborted();
    const iterator = stream[Symbol.asyncIterator]();
    try {
      return new PrimedStream(iterator, await abortable(iterator.next(), signal));
    } catch (error) {
      void iterator.return?.().catch(() => {});
      throw error;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (let step = this.#first; step.done !== true; step = await this.#iterator.next()) {
        const bytes = step.value;
        for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
      }
    } finally {
      this.close();
    }
  }

  /** Tells the source that the reader has stopped. Does not wait for work under way. */
  close(): void {
    void this.#iterator.return?.().catch(() => {});
  }
}
