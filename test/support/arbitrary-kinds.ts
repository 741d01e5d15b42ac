import type { DataType } from '@framehold/columns';
import fc from 'fast-check';
import * as values from './arbitrary-values.ts';

/** A type with its values, as `vectorOf` takes them, and the type in a frame. */
export interface Kind {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
  readonly kept: DataType;
  readonly keep: (value: unknown) => unknown;
}

interface Extent {
  /** Only values that can be written as text and read again. */
  readonly inText: boolean;
  readonly isNested: boolean;
}

function same(type: DataType, value: fc.Arbitrary<unknown>): Kind {
  return { type, value, kept: type, keep: (given) => given };
}

function integer(bits: 8 | 16 | 32, signed: boolean): Kind {
  const [min, max] = signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return same({ kind: 'int', bits, signed }, values.between(BigInt(min), BigInt(max)).map(Number));
}

const decimal: fc.Arbitrary<Kind> = fc
  .integer({ min: 1, max: 38 })
  .chain((precision) => fc.tuple(fc.constant(precision), fc.integer({ min: 0, max: precision })))
  .map(([precision, scale]) => {
    const most = 10n ** BigInt(precision) - 1n;
    return same({ kind: 'decimal', precision, scale }, values.between(-most, most));
  });

function timestamp(unit: values.Unit, zoned: boolean): Kind {
  const factor = { s: 1_000_000n, ms: 1000n, us: 1n }[unit];
  return {
    type: { kind: 'timestamp', unit, zoned },
    value: values.timestamps(unit),
    kept: { kind: 'timestamp', unit: 'us', zoned },
    keep: (value) => (value === null ? null : (value as bigint) * factor),
  };
}

const plainJson = ['{"a":[1,null]}', '"x"', '"1"', '[]', '2', '[-0,1.50,1e400]', '0.12345678901234567890'];

/**
 * In text: CSV has no NUL; JSON, which nested values are written as, has no NaN, has one null only, and spells texts in
 * many ways.
 */
function scalar({ inText, isNested }: Extent): fc.Arbitrary<Kind> {
  const finite = (floats: fc.Arbitrary<number>) => (inText && isNested ? floats.filter(Number.isFinite) : floats);
  return fc.oneof(
    fc.constantFrom(
      { ...same({ kind: 'null' }, fc.constant(null)), kept: { kind: 'int', bits: 32, signed: true } } as Kind,
      same({ kind: 'boolean' }, fc.boolean()),
      same({ kind: 'utf8' }, inText ? values.text : fc.oneof(values.text, values.textWithNul)),
      same({ kind: 'uuid' }, fc.uuid()),
      same({ kind: 'json' }, inText && isNested ? fc.constantFrom(...plainJson) : fc.json()),
      same({ kind: 'binary' }, values.bytes),
    ),
    fc.constantFrom(...([8, 16, 32] as const).flatMap((bits) => [integer(bits, true), integer(bits, false)])),
    fc.constantFrom(
      same({ kind: 'int', bits: 64, signed: true }, values.between(-(2n ** 63n), 2n ** 63n - 1n)),
      same({ kind: 'int', bits: 64, signed: false }, values.between(0n, 2n ** 64n - 1n)),
    ),
    fc.constantFrom(
      same({ kind: 'float', bits: 32 }, finite(values.floats)),
      same({ kind: 'float', bits: 64 }, finite(values.doubles)),
    ),
    decimal,
    fc.constantFrom(
      same({ kind: 'date' }, values.dates),
      same({ kind: 'time', unit: 'us' }, values.between(0n, 86_399_999_999n)),
      same({ kind: 'time', unit: 'ns' }, values.between(0n, 86_399_999_999_999n)),
      same({ kind: 'timestamp', unit: 'ns', zoned: false }, values.nanoTimestamps),
      ...(['s', 'ms', 'us'] as const).flatMap((unit) => [timestamp(unit, false), timestamp(unit, true)]),
    ),
  );
}

const nullable = (kind: Kind): Kind => ({ ...kind, value: fc.option(kind.value, { freq: 4 }) });

const each = (keep: Kind['keep']) => (items: unknown) => (items === null ? null : (items as unknown[]).map(keep));

const list = (of: Kind): Kind => ({
  type: { kind: 'list', element: of.type },
  value: fc.array(of.value, { maxLength: 4 }),
  kept: { kind: 'list', element: of.kept },
  keep: each(of.keep),
});

const array = (of: Kind): Kind => ({
  ...list(of),
  type: { kind: 'array', element: of.type, size: 3 },
  value: fc.array(of.value, { minLength: 3, maxLength: 3 }),
});

function struct([kinds, names]: [readonly Kind[], readonly string[]]): Kind {
  const fields = (which: 'type' | 'kept') => kinds.map((kind, i) => ({ name: names[i] as string, type: kind[which] }));
  return {
    type: { kind: 'struct', fields: fields('type') },
    value: fc.tuple(...kinds.map(({ value }) => value)),
    kept: { kind: 'struct', fields: fields('kept') },
    keep: (items) => (items === null ? null : kinds.map(({ keep }, i) => keep((items as unknown[])[i]))),
  };
}

const mapBy =
  (key: Kind) =>
  (of: Kind): Kind => ({
    type: { kind: 'map', key: key.type, value: of.type },
    value: fc.uniqueArray(fc.tuple(key.value, of.value), { maxLength: 3, selector: ([name]) => name }),
    kept: { kind: 'map', key: key.kept, value: of.kept },
    keep: each((pair) => {
      const [name, value] = pair as [unknown, unknown];
      return [key.keep(name), of.keep(value)];
    }),
  });

/** Kept as JSON, which has the member's name. */
const union: Kind = {
  type: {
    kind: 'union',
    members: [
      { name: 'n', type: { kind: 'int', bits: 32, signed: true } },
      { name: 's', type: { kind: 'utf8' } },
    ],
  },
  value: fc.oneof(fc.tuple(fc.constant(0), fc.integer()), fc.tuple(fc.constant(1), fc.constantFrom('', 'two words'))),
  kept: { kind: 'json' },
  keep(value) {
    if (value === null) return null;
    const [tag, member] = value as [number, unknown];
    return JSON.stringify({ [tag === 0 ? 'n' : 's']: member });
  },
};

/** Of a struct: there must be names, which differ in more than case. */
const fieldNames = fc.uniqueArray(
  fc.oneof(fc.constantFrom('a', 'select', 'a b', 'é"', "it's", '🦆', 'x,y'), values.text.filter(Boolean)),
  { minLength: 3, maxLength: 3, selector: (name) => name.toLowerCase() },
);

function nested(extent: Extent): fc.Arbitrary<Kind> {
  const { any } = fc.letrec<{ any: Kind }>((tie) => {
    const of = tie('any');
    return {
      any: fc
        .oneof(
          { maxDepth: 2 },
          scalar(extent),
          of.map(list),
          of.map(array),
          of.map(mapBy(same({ kind: 'utf8' }, values.text))),
          of.map(mapBy(integer(32, true))),
          fc.tuple(fc.array(of, { minLength: 1, maxLength: 3 }), fieldNames).map(struct),
        )
        .chain((kind) => fc.constantFrom(kind, nullable(kind))),
    };
  });
  return any;
}

function kinds(inText: boolean): fc.Arbitrary<Kind> {
  return fc
    .oneof(
      { weight: 4, arbitrary: scalar({ inText, isNested: false }) },
      { weight: 2, arbitrary: nested({ inText, isNested: true }) },
      { weight: 1, arbitrary: fc.constantFrom(union, same({ kind: 'interval' }, values.intervals)) },
    )
    .chain((kind) => fc.constantFrom(kind, nullable(kind)));
}

/** Any type that a frame can hold. */
export const anyKind = kinds(false);

/** Any type, with values that come back from text. */
export const kindInText = kinds(true);
