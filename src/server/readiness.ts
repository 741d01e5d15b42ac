import type { StoreTrouble } from '../frames/frames.ts';
import type { WriteTrouble } from '../frames/upkeep/write-probe.ts';

/** Why a server should be sent no requests. */
export type NotReady = 'starting' | 'stopping' | StoreTrouble;

/** Whether requests should be sent here: the answer to probes. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #trouble: () => StoreTrouble | undefined = () => undefined;
  #writeTrouble: () => WriteTrouble | undefined = () => undefined;

  /** The listeners are open. */
  serving(trouble: () => StoreTrouble | undefined, writeTrouble: () => WriteTrouble | undefined): void {
    this.#phase = 'serving';
    this.#trouble = trouble;
    this.#writeTrouble = writeTrouble;
  }

  stopping(): void {
    this.#phase = 'stopping';
  }

  /** Undefined where it is ready. */
  get problem(): NotReady | undefined {
    return this.#phase === 'serving' ? this.#trouble() : this.#phase;
  }

  /** The same of requests that write: a server that cannot write still reads. */
  get problemOfWrites(): NotReady | WriteTrouble | undefined {
    return this.problem ?? this.#writeTrouble();
  }

  /** In every phase of the server. */
  get isStorageWritable(): boolean {
    return this.#trouble() !== 'storage_failed' && this.#writeTrouble() === undefined;
  }
}
