import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextDictionary } from './text-dictionary.ts';

const dictionary = new TextDictionary();

function numbered(texts: readonly Uint8Array[]): Uint16Array | undefined {
  let end = 0;
  const ends = Int32Array.from(texts, (text) => {
    end += text.length;
    return end;
  });
  return dictionary.numbersOf(Buffer.concat(texts), ends);
}

/** Of few bytes, so that many are alike but for one of them, or for zeros at an end. */
const anyShort = fc.uint8Array({ maxLength: 10, max: 1 }).map((text) => text.map((byte) => byte * 0xff));
/** Alike but for one byte, which in the longest is not hashed. */
const anyLong = fc
  .tuple(fc.constantFrom(11, 12, 13, 16, 63, 64, 65, 128, 200), fc.nat(199), fc.nat(1))
  .map(([length, at, byte]) => {
    const text = new Uint8Array(length);
    text[at % length] = byte;
    return text;
  });
const anyText = fc.oneof(anyShort, anyLong);

test('texts of the same bytes have the same number, others another, in the order of their first occurrence', () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 50 }), (texts) => {
      // All of them twice: where most do not repeat there are no numbers.
      const all = [...texts, ...texts];
      const firsts = new Map<string, number>();
      for (const text of all) firsts.set(text.join(), firsts.get(text.join()) ?? firsts.size);
      expect([...(numbered(all) ?? [])]).toEqual(all.map((text) => firsts.get(text.join())));
      const { data, ends } = dictionary.entries;
      const entries = [...ends].map((end, n) => data.subarray(n === 0 ? 0 : ends[n - 1], end).join());
      expect(entries).toEqual([...firsts.keys()]);
    }),
  );
});

test('texts that differ in the last bytes of their last two words are told apart by their hashes', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
  const texts = letters.flatMap((a) => letters.map((b) => Buffer.from(`ABCDEFG${a}HIJ${b}`)));
  expect(new Set(numbered([...texts, ...texts])).size).toBe(62 * 62);
});

test('texts of which most do not repeat get no numbers', () => {
  expect(numbered(['a', 'b', 'c'].map((text) => Buffer.from(text)))).toBeUndefined();
});
