import { limitedAs, type Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';

interface Bucket {
  /** Requests that may still come at once. */
  left: number;
  /** On the monotonic clock. */
  filledAt: number;
}

/** Limits the requests a second of each tenant to the number in its record, and bursts to those of one second. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  /** `now`: milliseconds on a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Refuses (`rate_limited`) a request too many. Operators are not counted: they must be able to raise a limit. */
  count(principal: Principal): void {
    const { role, limits } = principal;
    const rate = limits?.maxRate;
    if (rate === undefined || role === 'operator') return;
    const now = this.#now();
    const key = limitedAs(principal);
    const bucket = this.#buckets.get(key) ?? { left: rate, filledAt: now };
    this.#buckets.set(key, bucket);
    bucket.left = Math.min(rate, bucket.left + ((now - bucket.filledAt) / 1000) * rate);
    bucket.filledAt = now;
    if (bucket.left < 1) {
      throw new AppError(
        'rate_limited',
        `your tenant may send ${rate} ${rate === 1 ? 'request' : 'requests'} a second`,
        {
          hint: 'send fewer, or ask the operator for more',
          retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.left) / rate)),
        },
      );
    }
    bucket.left -= 1;
  }
}
