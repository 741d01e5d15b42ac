import fc from 'fast-check';

/** Texts that are values of a type, mostly, and texts that nearly are. */

const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(''));
const digits = (least: number, most: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most, size: 'max' })
    .map((all) => all.join(''));
const pair = (most: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
const sign = fc.constantFrom('', '', '', '-', '-', '+');

/** A letter is changed, left out or doubled here and there. */
function nearly(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const letters = fc.constantFrom(...'0123456789+-.:eETZz _xX');
  const change = fc.tuple(fc.double({ min: 0, max: 0.99, noNaN: true }), letters, fc.constantFrom(0, 1, 2));
  const spoilt = fc.tuple(texts, change).map(([text, [place, letter, kept]]) => {
    const at = Math.floor(place * text.length);
    return text.slice(0, at + (kept === 2 ? 1 : 0)) + (kept === 1 ? '' : letter) + text.slice(at + 1);
  });
  return fc.oneof({ weight: 3, arbitrary: texts }, { weight: 1, arbitrary: spoilt });
}

const edges = fc
  .tuple(
    fc.constantFrom(
      2n ** 7n,
      2n ** 15n,
      2n ** 31n,
      2n ** 32n,
      2n ** 53n,
      2n ** 63n,
      2n ** 64n,
      10n ** 9n,
      10n ** 15n,
      10n ** 18n,
    ),
    fc.constantFrom(-1n, 0n, 1n),
    fc.constantFrom(-1n, 1n),
  )
  .map(([edge, step, side]) => String(side * (edge + step)));

export const integerTexts = nearly(
  fc.oneof(
    fc.integer().map(String),
    fc.integer({ min: -200, max: 200 }).map(String),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    edges,
    joined(sign, digits(1, 21)),
  ),
);

const exponent = joined(fc.constantFrom('e', 'E'), fc.constantFrom('', '', '+', '-'), digits(1, 4));
export const decimalTexts = nearly(
  fc.oneof(
    fc.double().map(String),
    fc.double({ min: -1e6, max: 1e6 }).map(String),
    fc
      .tuple(fc.double({ min: -1e17, max: 1e17, noNaN: true }), fc.integer({ min: 1, max: 21 }))
      .map(([value, count]) => value.toPrecision(count)),
    fc
      .tuple(fc.integer(), fc.integer({ min: 0, max: 9 }))
      .map(([value, places]) => (value / 10 ** places).toFixed(places)),
    // Numbers of few bits have an end in decimals too, perhaps right behind the digits that a double keeps.
    fc
      .tuple(fc.integer({ min: 1, max: 2 ** 30 }), fc.integer({ min: -40, max: 30 }), fc.integer({ min: 15, max: 19 }))
      .map(([value, power, count]) => (value * 2 ** power).toPrecision(count)),
    joined(sign, digits(0, 20), fc.constantFrom('.', '.', ''), digits(0, 20)),
    joined(sign, digits(1, 3), fc.constant('.'), digits(1, 6), exponent),
    joined(sign, digits(1, 3), exponent),
    edges,
    fc.constantFrom('NaN', 'nan', 'inf', '-inf', 'Infinity', '0e-400', '5e-324', '2e-324', '1e308', '1.8e308', '-0'),
  ),
);

const years = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1890, max: 2110 }) },
  fc.integer({ min: 0, max: 9999 }),
);
const anyDate = fc
  .tuple(years, pair(13), pair(32))
  .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${month}-${day}`);
const realDate = fc
  .integer({ min: -719_162, max: 2_932_896 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
export const dateTexts = nearly(fc.oneof(anyDate, realDate));

const fraction = joined(fc.constant('.'), digits(0, 9));
const seconds = joined(fc.constant(':'), pair(60), fc.oneof(fc.constant(''), fraction));
const time = joined(
  pair(24),
  fc.constant(':'),
  pair(60),
  fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 4, arbitrary: seconds }),
);
const offset = joined(
  fc.constantFrom('+', '-'),
  pair(17),
  fc.constantFrom('', ':'),
  fc.oneof(fc.constant(''), pair(60)),
);
const zone = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('', '', 'Z', 'Z', 'z', ' Z', 'UTC') }, offset);
export const timestampTexts = nearly(
  fc.oneof(
    joined(realDate, fc.constantFrom('T', ' '), time, zone),
    joined(realDate, fc.constantFrom('T', ' '), time),
    joined(anyDate, fc.constantFrom('T', ' ', '_'), time, zone),
    fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map((ms) => new Date(ms).toISOString()),
    realDate,
  ),
);

export const booleanTexts = nearly(fc.mixedCase(fc.constantFrom('true', 'false', 't', 'f', '1', '0', 'yes', 'no')));

export const anyTexts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    'a',
    ' x ',
    ' ',
    'null',
    '\\N',
    '#',
    "'q'",
    '"',
    'ä€😀',
    '\ufeff',
    '\r',
    '\n',
    '\r\n',
    'x'.repeat(5000),
  ),
);
