import { expect, test } from 'vitest';
import { readCredential } from './credentials.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['a Bearer token', { authorization: 'Bearer fh_x' }, { scheme: 'bearer', secret: 'fh_x' }],
  [
    'a Bearer token in other case, with spaces',
    { authorization: '  bEARER   fh_x ' },
    { scheme: 'bearer', secret: 'fh_x' },
  ],
  ['Basic with a user', { authorization: `Basic ${base64('ann:fh_x')}` }, { scheme: 'basic', secret: 'fh_x' }],
  ['Basic without a user', { authorization: `Basic ${base64(':fh_x')}` }, { scheme: 'basic', secret: 'fh_x' }],
  [
    'Basic with a colon in the password',
    { authorization: `Basic ${base64('a:b:c')}` },
    { scheme: 'basic', secret: 'b:c' },
  ],
  [
    'Basic without padding, as Go sends it',
    { authorization: `Basic ${base64('a:fh_xy').replace(/=+$/, '')}` },
    { scheme: 'basic', secret: 'fh_xy' },
  ],
  ['the token of old Flight clients', { 'auth-token-bin': base64('fh_x') }, { scheme: 'bearer', secret: 'fh_x' }],
  ['nothing', {}, undefined],
  ['an empty header', { authorization: '' }, undefined],
])('%s is read', (_, headers, credential) => {
  expect(readCredential(headers)).toEqual(credential);
});

test.each([
  ['another scheme', { authorization: 'Digest x' }, 'scheme "Digest" is not known'],
  ['a token without a scheme', { authorization: 'fh_0123456789' }, 'begins with no known scheme'],
  ['Basic that is not base64', { authorization: 'Basic ***' }, 'cannot be read'],
  ['Basic without a colon', { authorization: `Basic ${base64('fh_x')}` }, 'cannot be read'],
  ['two headers', { authorization: ['Bearer a', 'Bearer b'] }, 'more than once'],
  ['a header and the one of old clients', { authorization: 'Bearer a', 'auth-token-bin': 'YQ' }, 'more than once'],
])('%s is refused', (_, headers, words) => {
  expect(() => readCredential(headers)).toThrow(
    expect.objectContaining({ code: 'unauthenticated', message: expect.stringContaining(words) }),
  );
});

test('a long header costs time in proportion to its length', () => {
  const begunAt = performance.now();
  expect(readCredential({ authorization: `Bearer a${' '.repeat(60_000)}b` })?.secret).toHaveLength(60_002);
  // Quadratic work would take seconds.
  expect(performance.now() - begunAt).toBeLessThan(1000);
});
