import { AppError } from '../../core/errors/app-error.ts';

type State =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly failure: AppError; readonly retryAt: number }
  | { readonly kind: 'probing'; readonly failure: AppError };

export interface BreakerOptions {
  /** Pause between two attempts while the other side is down, in milliseconds. */
  readonly pauseMs: number;
  readonly now: () => number;
  readonly onOpen: (failure: AppError) => void;
  readonly onClose: () => void;
}

/**
 * Spares callers the wait for a connection that fails: after one failure, others fail at once with the same error until one
 * attempt, made after a pause, connects.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: State = { kind: 'closed' };

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#state.kind !== 'closed';
  }

  /** Throws while no attempt is allowed. */
  check(): void {
    const failure = this.#failureNow();
    if (failure !== undefined) throw again(failure);
  }

  /** As check; while the other side is down, a caller that gets through makes the one attempt and must report its result. */
  enter(): void {
    this.check();
    if (this.#state.kind === 'open') this.#state = { kind: 'probing', failure: this.#state.failure };
  }

  connected(): void {
    if (this.#state.kind === 'closed') return;
    this.#state = { kind: 'closed' };
    this.#options.onClose();
  }

  failed(failure: AppError): void {
    const wasClosed = this.#state.kind === 'closed';
    this.#state = { kind: 'open', failure, retryAt: this.#options.now() + this.#options.pauseMs };
    if (wasClosed) this.#options.onOpen(failure);
  }

  /** The attempt ended without a sign of whether the other side is up. */
  abandoned(): void {
    if (this.#state.kind !== 'probing') return;
    this.#state = { kind: 'open', failure: this.#state.failure, retryAt: this.#options.now() };
  }

  #failureNow(): AppError | undefined {
    const state = this.#state;
    switch (state.kind) {
      case 'closed':
        return undefined;
      case 'probing':
        return state.failure;
      case 'open':
        return this.#options.now() < state.retryAt ? state.failure : undefined;
      default:
        return state satisfies never;
    }
  }
}

function again({ code, message, hint, cause }: AppError): AppError {
  return new AppError(code, message, { hint, retryAfterSeconds: 1, cause });
}
