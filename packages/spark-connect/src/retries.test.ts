import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ConnectFailure } from './connect-failure.ts';
import { Retries } from './retries.ts';

const { signal } = new AbortController();
const broken = new ConnectFailure('UNAVAILABLE', 'the connection broke');

test('failures one behind the other use up the retry time', async () => {
  const retries = new Retries({ retryForMs: 200, signal });
  await expect(
    (async () => {
      for (;;) await retries.next(broken);
    })(),
  ).rejects.toBe(broken);
});

test('a try that held for long counts as one that worked, also where nothing came', async () => {
  const retries = new Retries({ retryForMs: 100, signal });
  for (let round = 0; round < 3; round++) {
    await retries.next(broken);
    await wait(250);
  }
});
