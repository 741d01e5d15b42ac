import { AppError } from '../../core/app-error.ts';

/** Bounds each of many waits with one timer: an upload has tens of thousands of them a second. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout;
  /** Undefined while nobody waits. */
  #reject: ((error: AppError) => void) | undefined;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      this.#reject?.(new AppError('invalid_input', `the client sent nothing for ${timeoutMs / 1000} s`));
    }, timeoutMs);
  }

  limit<T>(wait: Promise<T>): Promise<T> {
    this.#timer.refresh();
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      const settle =
        <V>(action: (value: V) => void) =>
        (value: V): void => {
          this.#reject = undefined;
          action(value);
        };
      wait.then(settle(resolve), settle(reject));
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
