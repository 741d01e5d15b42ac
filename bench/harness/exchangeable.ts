import type { Cleanup } from '../../src/core/async/cleanup.ts';

/** A server or client that a case replaces by a new one between its rounds. */
export interface Exchangeable<T> {
  readonly current: () => T;
  /** Stops the running one, if any, and starts another without any caches. */
  readonly renew: () => Promise<void>;
}

export function exchangeable<T extends AsyncDisposable>(start: () => Promise<T>, cleanup: Cleanup): Exchangeable<T> {
  let started: T | undefined;
  const stop = async (): Promise<void> => {
    const stopped = started;
    started = undefined;
    await stopped?.[Symbol.asyncDispose]();
  };
  cleanup.defer(stop);
  return {
    current() {
      if (started === undefined) throw new Error('not started');
      return started;
    },
    async renew() {
      await stop();
      started = await start();
    },
  };
}
