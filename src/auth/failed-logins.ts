import { AddressCounts } from '../core/callers/address-counts.ts';
import type { Caller, Identify } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { Logger } from '../core/logs/logger.ts';

export interface FailedLoginsOptions {
  /** Wrong credentials of one address in a minute whose answers name the fault. */
  readonly maxPerMinute: number;
  readonly logger: Logger;
  /** In milliseconds. */
  readonly now?: () => number;
}

const maxAddresses = 10_000;

/**
 * Counts wrong credentials by address. Beyond `maxPerMinute` they are answered `rate_limited`. A credential is verified before
 * any is counted, so a good one is accepted whatever else comes from its address.
 */
export class FailedLogins implements Disposable {
  readonly #counts: AddressCounts;

  constructor({ maxPerMinute, logger, now }: FailedLoginsOptions) {
    this.#counts = new AddressCounts({
      single: maxPerMinute,
      maxAddresses,
      onSum: (address, more) => logger.warn('failed logins', { address, more, beyond: this.#counts.single }),
      ...(now !== undefined && { now }),
    });
  }

  /** From now on. */
  set maxPerMinute(count: number) {
    this.#counts.single = count;
  }

  limit(identify: Identify): Identify {
    return (caller) => {
      try {
        const principal = identify(caller);
        if (!(principal instanceof Promise)) return principal;
        return principal.catch((error: unknown) => {
          throw this.#counted(caller, error);
        });
      } catch (error) {
        throw this.#counted(caller, error);
      }
    };
  }

  [Symbol.dispose](): void {
    this.#counts[Symbol.dispose]();
  }

  #counted({ headers, address }: Caller, error: unknown): unknown {
    if (!(error instanceof AppError && error.code === 'unauthenticated')) return error;
    // Browsers and drivers send the first request without one.
    if (headers.authorization === undefined && headers['auth-token-bin'] === undefined) return error;
    if (this.#counts.add(address)) return error;
    return new AppError('rate_limited', 'too many wrong credentials have come from your address', {
      hint: 'send a good one, which is taken at once, or wait',
      retryAfterSeconds: this.#counts.secondsLeft(address),
    });
  }
}
