import { expect, it } from 'vitest';
import { maskConnectUrl, parseConnectUrl } from './connect-url.ts';

const plain = { userId: undefined, userAgent: undefined, token: undefined, isTls: false, headers: {} };

it.each([
  ['sc://spark', { ...plain, host: 'spark', port: 15002 }],
  ['sc://spark:443/', { ...plain, host: 'spark', port: 443 }],
  ['sc://[::1]:1/;use_ssl=true', { ...plain, host: '::1', port: 1, isTls: true }],
  [
    'sc://spark/;user_id=ann%20b;user_agent=x',
    { ...plain, host: 'spark', port: 15002, userId: 'ann b', userAgent: 'x' },
  ],
  ['sc://spark/;x-Tenant=a%3Db', { ...plain, host: 'spark', port: 15002, headers: { 'x-tenant': 'a=b' } }],
])('reads %s', (url, address) => {
  expect(parseConnectUrl(url)).toEqual(address);
});

it('sends a token in clear text only to this machine, or where the URL says so', () => {
  expect(parseConnectUrl('sc://spark/;token=s3cret')).toMatchObject({ token: 's3cret', isTls: true });
  expect(parseConnectUrl('sc://127.0.0.1/;token=s3cret')).toMatchObject({ isTls: false });
  expect(parseConnectUrl('sc://localhost/;token=s3cret')).toMatchObject({ isTls: false });
  expect(parseConnectUrl('sc://spark/;token=s3cret;use_ssl=false')).toMatchObject({ isTls: false });
});

it.each([
  'http://spark',
  'sc://',
  'sc://:15002',
  'sc://spark:99999',
  'sc://spark/path',
  'sc://user@spark',
  'sc://spark/;token',
  'sc://spark/;token=',
  'sc://spark/;token=%zz',
  'sc://spark/;token=a%0ab',
  'sc://a b',
  'sc://spark/;use_ssl=yes',
  'sc://spark/;use_ssl=true;use_ssl=true',
  'sc://spark/;session_id=6f3d2c9e-0000-4000-8000-000000000000',
  'sc://spark/;colour=red',
  'sc://spark/;x-a=%0d%0a',
  'sc://spark/;token=a%0Ab',
  'sc://spark/;user_agent=a%0Ab',
])('refuses %s with what to write instead', (url) => {
  const hint = expect.stringContaining('sc://host:15002/');
  expect(() => parseConnectUrl(url)).toThrow(expect.objectContaining({ code: 'invalid_parameter', hint }));
});

it('says nothing of the token in an error', () => {
  for (const options of ['token=s3cret;use_ssl=maybe', 'token=a;s3cret', 'token=a;s3cret=b', 'x-key=a;s3cret=b']) {
    expect(() => parseConnectUrl(`sc://spark/;${options}`)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('s3cret') }),
    );
  }
});

it('hides in a log what may be secret, and nothing else', () => {
  expect(maskConnectUrl('sc://spark:1/;token=s3cret;use_ssl=true;user_id=ann;x-key=k')).toBe(
    'sc://spark:1/;token=***;use_ssl=true;user_id=ann;x-key=***',
  );
  expect(maskConnectUrl('sc://u:p@spark')).toBe('sc://***@spark');
});

it.each([
  ['sc://h/;token=SEK;RET', 'sc://h/;token=***;***'],
  ['sc://h/;token=SEK;RET=;use_ssl=true', 'sc://h/;token=***;***;use_ssl=true'],
  ['sc://h/;token=SEK;=RET', 'sc://h/;token=***;***'],
  ['sc://h/;TOKEN=SEK;RET=1', 'sc://h/;TOKEN=***;***'],
  ['sc://h/;x-key=SEK;RET=1;x-b=2', 'sc://h/;x-key=***;***;x-b=***'],
  ['sc://h/;SEKRET', 'sc://h/;***'],
  ['sc://h?token=SEK;RET', 'sc://h?token=***;***'],
  ['sc://h/;colour=red', 'sc://h/;colour=***'],
  ['sc://h:1/', 'sc://h:1/'],
])('hides in %s also what may be the rest of a secret', (url, shown) => {
  expect(maskConnectUrl(url)).toBe(shown);
});
