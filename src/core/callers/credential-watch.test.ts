import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { principalOf } from '../../../test/support/principals.ts';
import { AppError } from '../errors/app-error.ts';
import { CredentialWatch } from './credential-watch.ts';
import type { Identify, Principal } from './principal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const ann = principalOf('acme', { role: 'write' });

/** The end of a request whose caller is identified so after its begin. */
async function endOf(identify: Identify): Promise<string | undefined> {
  using watch = new CredentialWatch(identify);
  let end: string | undefined;
  const endNow = (error: AppError): void => {
    end = error.message;
  };
  watch.add({ caller: { headers: {}, address: '' }, principal: ann, endNow });
  await vi.advanceTimersByTimeAsync(5000);
  return end;
}

const refusing = (code: 'unauthenticated' | 'forbidden' | 'auth_unavailable') => (): Promise<Principal> =>
  Promise.reject(new AppError(code, 'the reason'));

test.each<[string, Identify, string | undefined]>([
  ['is still good', () => ann, undefined],
  // A JWT is good for a while beyond its end: clocks differ.
  ['is still good beyond its end', () => ({ ...ann, expiresAt: Date.now() - 30_000 }), undefined],
  ['cannot be verified now', refusing('auth_unavailable'), undefined],
  ['is refused', refusing('unauthenticated'), 'the reason'],
  ['is of nobody any more', refusing('forbidden'), 'the reason'],
  ['has another role', () => ({ ...ann, role: 'read' }), 'its rights have changed'],
  ['has another prefix', async () => ({ ...ann, prefix: 'eu.' }), 'its rights have changed'],
])('a request goes on for as long as its credential is good: one that %s', async (_, identify, reason) => {
  const message = reason === undefined ? undefined : `the credential ended while the request was under way: ${reason}`;
  expect(await endOf(identify)).toBe(message);
});

test('a request that has ended is not looked at', async () => {
  const identify = vi.fn<Identify>(() => ann);
  using watch = new CredentialWatch(identify);
  const request = { caller: { headers: {}, address: '' }, principal: ann, endNow: () => {} };
  watch.add(request);
  await vi.advanceTimersByTimeAsync(1500);
  watch.delete(request);
  await vi.advanceTimersByTimeAsync(5000);
  expect(identify).not.toHaveBeenCalled();
});
