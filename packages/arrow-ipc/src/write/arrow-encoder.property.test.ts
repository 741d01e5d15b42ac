import { type DataType, joinBytes } from '@framehold/columns';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrowContents } from '../../../../test/support/arrow-values.ts';
import { vectorOf } from '../../../../test/support/vector-of.ts';
import { arrowFields } from '../types/arrow-columns.ts';
import { createArrowEncoder } from './arrow-encoder.ts';
import { schemaMessage } from './schema-message.ts';

/** A type with its values, as `vectorOf` takes them. */
interface Kind {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const number = (bits: 8 | 16 | 32): Kind => ({
  type: { kind: 'int', bits, signed: true },
  value: fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 }),
});

const scalars: readonly Kind[] = [
  { type: { kind: 'null' }, value: fc.constant(null) },
  { type: { kind: 'boolean' }, value: fc.boolean() },
  number(8),
  number(16),
  number(32),
  { type: { kind: 'int', bits: 64, signed: true }, value: int64 },
  { type: { kind: 'int', bits: 128, signed: true }, value: int64 },
  { type: { kind: 'float', bits: 64 }, value: fc.double() },
  { type: { kind: 'decimal', precision: 38, scale: 3 }, value: int64 },
  { type: { kind: 'utf8' }, value: text },
  { type: { kind: 'binary' }, value: fc.uint8Array({ maxLength: 8 }).map((bytes) => Uint8Array.from(bytes)) },
  { type: { kind: 'timestamp', unit: 'ns', zoned: false }, value: int64 },
  { type: { kind: 'interval' }, value: fc.tuple(fc.integer(), fc.integer(), int64) },
];

const nullable = ({ type, value }: Kind): Kind => ({ type, value: fc.option(value, { freq: 5 }) });

const list = ({ type, value }: Kind): Kind => ({
  type: { kind: 'list', element: type },
  value: fc.array(value, { maxLength: 4 }),
});

const array = ({ type, value }: Kind): Kind => ({
  type: { kind: 'array', element: type, size: 3 },
  value: fc.array(value, { minLength: 3, maxLength: 3 }),
});

const map = ({ type, value }: Kind): Kind => ({
  type: { kind: 'map', key: { kind: 'utf8' }, value: type },
  value: fc.array(fc.tuple(text, value), { maxLength: 3 }),
});

const struct = (kinds: readonly Kind[]): Kind => ({
  type: { kind: 'struct', fields: kinds.map(({ type }, i) => ({ name: `f${i}`, type })) },
  value: fc.tuple(...kinds.map(({ value }) => value)),
});

const union = (kinds: readonly Kind[]): Kind => ({
  type: { kind: 'union', members: kinds.map(({ type }, i) => ({ name: `m${i}`, type })) },
  value: fc.oneof(...kinds.map(({ value }, tag) => value.map((v) => (v === null ? null : [tag, v])))),
});

const { anyKind } = fc.letrec<{ anyKind: Kind }>((tie) => ({
  anyKind: fc
    .oneof(
      { maxDepth: 2 },
      fc.constantFrom(...scalars),
      tie('anyKind').map(list),
      tie('anyKind').map(array),
      tie('anyKind').map(map),
      fc.array(tie('anyKind'), { minLength: 1, maxLength: 3 }).map(struct),
      fc.array(tie('anyKind'), { minLength: 1, maxLength: 3 }).map(union),
    )
    .chain((kind) => fc.constantFrom(kind, nullable(kind))),
}));

const table = fc.array(anyKind, { minLength: 1, maxLength: 4 }).chain((kinds) => {
  const rows = fc.array(fc.tuple(...kinds.map(({ value }) => value)), { maxLength: 40 });
  return fc.record({ kinds: fc.constant(kinds), batches: fc.array(rows, { maxLength: 4 }) });
});

const cuts = fc.record({ maxBytes: fc.integer({ min: 1, max: 2000 }), step: fc.integer({ min: 1, max: 50 }) });

test('random batches, cut at random, come back as they were', () => {
  fc.assert(
    fc.property(table, cuts, ({ kinds, batches }, { maxBytes, step }) => {
      const columns = kinds.map(({ type }, i) => ({ name: `c${i}`, type }));
      const encoder = createArrowEncoder(columns);
      const messages = [schemaMessage(arrowFields(columns))];
      for (const rows of batches) {
        const vectors = kinds.map(({ type }, i) =>
          vectorOf(
            type,
            rows.map((row) => row[i]),
          ),
        );
        const batch = { columns, rows: rows.length, vectors };
        for (let row = 0; row < rows.length; ) {
          const to = Math.min(rows.length, row + step);
          const next = encoder.encodeRows(batch, row, to, maxBytes);
          expect(next).toBeGreaterThan(row);
          if (next < to) expect(encoder.pendingBytes).toBeGreaterThanOrEqual(maxBytes);
          row = next;
          if (encoder.pendingBytes >= maxBytes) messages.push(...encoder.take().pieces);
        }
      }
      messages.push(encoder.takeMessage().bytes);
      expect(arrowContents(joinBytes(messages), columns).rows).toEqual(batches.flat());
    }),
    { numRuns: 300 },
  );
});
