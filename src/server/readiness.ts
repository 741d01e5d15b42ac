import type { StoreTrouble } from '../frames/frames.ts';

/** Why a server should be sent no requests. */
export type NotReady = 'starting' | 'stopping' | StoreTrouble;

/** Whether requests should be sent here: what probes ask. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #trouble: () => StoreTrouble | undefined = () => undefined;

  /** The listeners are open. */
  serving(trouble: () => StoreTrouble | undefined): void {
    this.#phase = 'serving';
    this.#trouble = trouble;
  }

  stopping(): void {
    this.#phase = 'stopping';
  }

  /** Undefined where it is ready. */
  get problem(): NotReady | undefined {
    return this.#phase === 'serving' ? this.#trouble() : this.#phase;
  }
}
