import { CodedError } from '@framehold/columns';
import { maxBodyBytes } from './messages.ts';

/** Bounds the expansion of few bytes: compressed ones, or views that all point to the same text. */
export class UnfoldBudget {
  readonly #most: number;
  #left: number;

  /** Default: the budget of one record batch. */
  constructor(most = maxBodyBytes) {
    this.#most = most;
    this.#left = most;
  }

  take(bytes: number, what: string): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new CodedError(
      'too_large',
      `a record batch ${what} ${this.#most - this.#left} bytes (at most ${this.#most})`,
      {
        hint: 'send the rows in smaller record batches',
      },
    );
  }
}
