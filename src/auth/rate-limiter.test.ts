import { expect, test } from 'vitest';
import { principalOf } from '../../test/support/principals.ts';
import type { Principal } from '../core/callers/principal.ts';
import { RateLimiter } from './rate-limiter.ts';

let now = 0;
const noLimits = { maxBytes: undefined, maxFrames: undefined, maxStatements: undefined, engines: undefined };
const limited = (tenant: string, maxRate: number | undefined, more: Partial<Principal> = {}) =>
  principalOf(tenant, { limits: { ...noLimits, maxRate }, ...more });

/** The number of served requests of a hundred. */
function served(limiter: RateLimiter, principal: Principal): number {
  let count = 0;
  for (let n = 0; n < 100; n++) {
    try {
      limiter.count(principal);
      count++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    }
  }
  return count;
}

test('a tenant has the requests of one second at once, then as many as time passes', () => {
  const limiter = new RateLimiter(() => now);
  const acme = limited('acme', 10);
  expect(served(limiter, acme)).toBe(10);
  expect(served(limiter, acme)).toBe(0);
  now += 500;
  expect(served(limiter, acme)).toBe(5);
  now += 60_000;
  expect(served(limiter, acme)).toBe(10);
});

test('tenants, and changes of a limit, are apart; without a limit, and for operators, nothing is counted', () => {
  const limiter = new RateLimiter(() => now);
  expect(served(limiter, limited('acme', 10))).toBe(10);
  expect(served(limiter, limited('other', 3))).toBe(3);
  expect(served(limiter, limited('other', undefined))).toBe(100);
  expect(served(limiter, limited('acme', 10, { role: 'operator' }))).toBe(100);
  now += 1000;
  expect(served(limiter, limited('acme', 2))).toBe(2);
});
