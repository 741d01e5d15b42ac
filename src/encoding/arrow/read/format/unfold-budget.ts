import { AppError } from '../../../../core/app-error.ts';
import { maxBodyBytes } from './messages.ts';

/** Bounds what few bytes may stand for: compressed ones, or views that all point to the same text. */
export class UnfoldBudget {
  readonly #most: number;
  #left: number;

  /** Of one record batch, unless told otherwise. */
  constructor(most = maxBodyBytes) {
    this.#most = most;
    this.#left = most;
  }

  take(bytes: number, what: string): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new AppError('too_large', `a record batch ${what} ${this.#most - this.#left} bytes (at most ${this.#most})`, {
      hint: 'send the rows in smaller record batches',
    });
  }
}
