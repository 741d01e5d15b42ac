import { expect, test } from 'vitest';
import { principalOf } from '../../../test/support/principals.ts';
import { laneOf, laneOfUnknown } from './principal.ts';

test.each([
  ['an ordinary one', 'ann', 'acme#token ann#7'],
  ['one with a #', 'ann#9', 'acme#token ann%239#7'],
  ['one with half of a surrogate pair', '\ud800', 'acme#token \ud800#7'],
])('a lane has three parts, whatever the name of the caller: %s', (_, name, lane) => {
  expect(laneOf(principalOf('acme', { name }), '10.0.0.1', '7')).toBe(lane);
});

test.each([
  ['without authentication an address', 'none', '10.0.0.1', '10.0.0.1#7'],
  ['without authentication a network of IPv6', 'none', '2001:db8::5', '2001:db8:0:0::/64#7'],
  ['a stranger', 'anonymous', '10.0.0.1', 'acme anonymous#10.0.0.1#7'],
] as const)('%s has a share of its own', (_, credential, address, lane) => {
  expect(laneOf(principalOf('acme', { credential }), address, '7')).toBe(lane);
});

test('before it is known, a caller has its turn beside those of its address that claim to be somebody else', () => {
  expect(laneOfUnknown('10.0.0.1', `Bearer fh_${'a'.repeat(40)}#b`, '7')).toBe(`10.0.0.1#${'a'.repeat(14)}%23b#7`);
  expect(laneOfUnknown('10.0.0.1', undefined, '7')).toBe('10.0.0.1##7');
});
