import { expect, test } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

test('names the nearest candidate, or none', () => {
  expect(didYouMean('trdaes', ['quotes', 'trades'])).toBe('; did you mean trades?');
  expect(didYouMean('x', ['quotes', 'trades'])).toBe('');
});

test('looks at so many candidates only as take no time', () => {
  const candidates = Array.from({ length: 5000 }, (_, n) => `${'x'.repeat(180)}${n}`);
  const { user } = process.cpuUsage();
  didYouMean('y'.repeat(190), candidates);
  expect(process.cpuUsage().user - user).toBeLessThan(400_000);
});
