import { expect, test } from 'vitest';
import { defaultTenant, type Role, roles } from '../core/callers/principal.ts';
import { parseHandle } from '../core/names/handle.ts';
import { type Action, assertMay, leastRole, may } from './rights.ts';

const principal = (role: Role, prefix?: string) =>
  ({ tenant: defaultTenant, name: 'x', role, prefix, credential: 'token' }) as const;

test('every role may do what its own and the lower ones may, and nothing else', () => {
  for (const [action, needed] of Object.entries(leastRole)) {
    for (const role of roles) {
      const isAllowed = roles.indexOf(role) >= roles.indexOf(needed);
      expect([action, role, may(principal(role), action as Action)]).toEqual([action, role, isAllowed]);
    }
  }
});

test('a refusal names the role that is missing', () => {
  expect(() => assertMay(principal('read'), 'writeFrames')).toThrow('this needs the role write; yours is read');
});

test('a prefix bounds the handles that a token may name', () => {
  const limited = principal('write', 'eu.');
  expect(may(limited, 'writeFrames', parseHandle('eu.trades'))).toBe(true);
  expect(may(limited, 'readFrames', parseHandle('us.trades'))).toBe(false);
  expect(() => assertMay(limited, 'readFrames', parseHandle('us.trades'))).toThrow('handles that begin with eu.');
});

test('a prefix keeps an admin from tokens and an operator from tenants', () => {
  expect(may(principal('admin', 'ci.'), 'manageTokens')).toBe(false);
  expect(may(principal('admin'), 'manageTokens')).toBe(true);
  expect(may(principal('operator', 'ci.'), 'manageTenants')).toBe(false);
});
