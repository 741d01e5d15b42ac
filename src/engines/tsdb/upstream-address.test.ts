import { expect, test } from 'vitest';
import { parseUpstreamAddress } from './upstream-address.ts';

test('the base path of the URL is kept before /exec', () => {
  expect(parseUpstreamAddress('http://db:9001').basePath).toBe('');
  expect(parseUpstreamAddress('http://db:9001/').basePath).toBe('');
  expect(parseUpstreamAddress('https://gateway/tenants/a/').basePath).toBe('/tenants/a');
});

test('user and password become a Basic authorization and leave the origin', () => {
  const address = parseUpstreamAddress('http://admin:p%40ss%3Aw%C3%B6rd@db:9001');
  expect(address.origin).toBe('http://db:9001');
  expect(address.authorization).toBe(`Basic ${Buffer.from('admin:p@ss:wörd').toString('base64')}`);
});

test('a bare percent sign in a password is taken as it is', () => {
  const { authorization } = parseUpstreamAddress('http://u:100%@db');
  expect(authorization).toBe(`Basic ${Buffer.from('u:100%').toString('base64')}`);
});

test('without user and password there is no authorization', () => {
  expect(parseUpstreamAddress('http://db:9001').authorization).toBeUndefined();
});

test('what is no URL is refused without being repeated', () => {
  expect(() => parseUpstreamAddress('http://u:canary@:bad')).toThrow(/^(?!.*canary).*not a URL/);
});
