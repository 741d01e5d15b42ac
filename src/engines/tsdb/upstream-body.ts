import { Readable } from 'node:stream';

/** The connection that a body comes from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** A response body as it came, pulled at the reader's speed. Destroying it before its end breaks the connection off. */
export class UpstreamBody extends Readable {
  readonly #source: BodySource;
  #complete = false;

  constructor(source: BodySource) {
    super({ highWaterMark: 256 * 1024 });
    this.#source = source;
    // It may fail before its reader has had a turn to listen; without a listener that would end the process. A reader
    // that comes later still sees it: `pipeline` and `finished` look at `errored` first.
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
