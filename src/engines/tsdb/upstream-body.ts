import { Readable } from 'node:stream';

/** The source connection of a body. */
export interface BodySource {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** An unchanged response body, pulled at the reader's speed. Destroying it before its end breaks the connection off. */
export class UpstreamBody extends Readable {
  readonly #source: BodySource;
  #complete = false;

  constructor(source: BodySource) {
    super({ highWaterMark: 256 * 1024 });
    this.#source = source;
    // It may fail before its reader listens; without a listener that would end the process. A later reader still sees it:
    // `pipeline` and `finished` look at `errored` first.
    this.on('error', () => {});
  }

  arrived(chunk: Buffer): void {
    if (!this.push(chunk)) this.#source.pause();
  }

  completed(): void {
    this.#complete = true;
    this.push(null);
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#complete) this.#source.abort(error ?? new Error('the reader left'));
    callback(error);
  }
}
