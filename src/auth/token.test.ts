import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateToken, hashToken, isWellFormed, looksLikeToken } from './token.ts';

test('a token has its prefix, its checksum and no two are alike', () => {
  const tokens = Array.from({ length: 1000 }, generateToken);
  expect(new Set(tokens).size).toBe(1000);
  for (const token of tokens) {
    expect(token).toMatch(/^fh_[0-9A-Za-z]{36}$/);
    expect([looksLikeToken(token), isWellFormed(token)]).toEqual([true, true]);
  }
});

test('a token with any one character changed, cut or added is not well-formed', () => {
  fc.assert(
    fc.property(fc.nat(38), fc.constantFrom(...'0aZ_-. é'), (at, character) => {
      const token = generateToken();
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      if (changed !== token) expect(isWellFormed(changed)).toBe(false);
      expect(isWellFormed(token.slice(0, at))).toBe(false);
      expect(isWellFormed(token + character)).toBe(false);
    }),
  );
});

test('the hash of a token says nothing of it and is always the same', () => {
  const token = generateToken();
  expect(hashToken(token)).toBe(hashToken(token));
  expect(hashToken(token)).toMatch(/^[0-9a-f]{64}$/);
});
