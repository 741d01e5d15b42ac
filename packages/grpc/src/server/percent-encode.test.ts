import fc from 'fast-check';
import { expect, it } from 'vitest';
import { percentEncode } from './percent-encode.ts';

it('writes printable ASCII as it is, and anything else as escapes that decode to it', () => {
  expect(percentEncode('column "a" = 5%\n')).toBe('column "a" = 5%25%0A');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const encoded = percentEncode(text);
      expect(encoded).toMatch(/^[ -~]*$/);
      expect(decodeURIComponent(encoded)).toBe(text);
    }),
  );
});

it('cuts long text at a whole character, and survives half a surrogate pair', () => {
  const encoded = percentEncode('é'.repeat(10_000));
  expect(encoded.length).toBeLessThanOrEqual(4096);
  expect(decodeURIComponent(encoded)).toMatch(/^é+$/);
  expect(percentEncode('\ud800')).toBe('%EF%BF%BD');
});
