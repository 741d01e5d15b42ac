import type { DataType } from '@framehold/columns';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { vectorOf } from '../../../test/support/vector-of.ts';
import { createExecJsonEncoder } from './exec-json.ts';

/** A type with its values: `value` goes into the vector, `json` is the result of JSON.parse. */
interface Kind {
  readonly type: DataType;
  readonly cell: fc.Arbitrary<{ readonly value: unknown; readonly json: unknown }>;
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: 'binary', maxLength: 12 });
const YEAR_0 = -62_167_219_200;
const YEAR_10000 = 253_402_300_800;
const seconds = fc.integer({ min: YEAR_0, max: YEAR_10000 - 1 });

function kind<Value>(type: DataType, value: fc.Arbitrary<Value>, json: (value: Value) => unknown): Kind {
  return { type, cell: value.map((value) => ({ value, json: json(value) })) };
}

function timestamp(unit: 's' | 'ms' | 'us' | 'ns', digits: number): Kind {
  const value = fc.tuple(seconds, fc.integer({ min: 0, max: 10 ** digits - 1 }));
  const width = unit === 'ns' ? 9 : 6;
  const inRange = value.filter(([second]) => unit !== 'ns' || Math.abs(second) < 9.2e9);
  return {
    type: { kind: 'timestamp', unit, zoned: false },
    cell: inRange.map(([second, fraction]) => ({
      value: BigInt(second) * 10n ** BigInt(digits) + BigInt(fraction),
      json: `${new Date(second * 1000).toISOString().slice(0, 19)}.${
        digits === 0 ? '0'.repeat(width) : String(fraction).padStart(digits, '0').padEnd(width, '0')
      }Z`,
    })),
  };
}

const float64 = fc.oneof(
  fc.double(),
  fc.integer().map((n) => n / 1000),
);

const scalars: readonly Kind[] = [
  kind({ kind: 'boolean' }, fc.boolean(), (value) => value),
  kind({ kind: 'int', bits: 8, signed: true }, fc.integer({ min: -128, max: 127 }), (value) => value),
  kind({ kind: 'int', bits: 32, signed: false }, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => value),
  kind({ kind: 'int', bits: 64, signed: true }, int64, Number),
  kind({ kind: 'int', bits: 64, signed: false }, int64, (value) => String(BigInt.asUintN(64, value))),
  kind({ kind: 'int', bits: 128, signed: true }, int64, String),
  kind({ kind: 'float', bits: 64 }, float64, (value) => (Number.isFinite(value) ? value : null)),
  kind({ kind: 'utf8' }, text, (value) => value),
  kind({ kind: 'binary' }, fc.uint8Array({ maxLength: 8 }), (value) => Buffer.from(value).toString('base64')),
  kind({ kind: 'json' }, fc.json({ maxDepth: 2 }), (value) => JSON.parse(value)),
  timestamp('s', 0),
  timestamp('ms', 3),
  timestamp('us', 6),
  timestamp('ns', 9),
];

function nullable({ type, cell }: Kind): Kind {
  return { type, cell: fc.option(cell, { nil: { value: null, json: null }, freq: 4 }) };
}

function list({ type, cell }: Kind): Kind {
  return {
    type: { kind: 'list', element: type },
    cell: fc.array(cell, { maxLength: 4 }).map((cells) => ({
      value: cells.map(({ value }) => value),
      json: cells.map(({ json }) => json),
    })),
  };
}

function struct(kinds: readonly Kind[]): Kind {
  return {
    type: { kind: 'struct', fields: kinds.map(({ type }, i) => ({ name: `f"${i}`, type })) },
    cell: fc.tuple(...kinds.map(({ cell }) => cell)).map((cells) => ({
      value: cells.map(({ value }) => value),
      json: Object.fromEntries(cells.map(({ json }, i) => [`f"${i}`, json])),
    })),
  };
}

function union(kinds: readonly Kind[]): Kind {
  return {
    type: { kind: 'union', members: kinds.map(({ type }, i) => ({ name: `m${i}`, type })) },
    cell: fc.oneof(...kinds.map(({ cell }, tag) => cell.map(({ value, json }) => ({ value: [tag, value], json })))),
  };
}

const { anyKind } = fc.letrec<{ anyKind: Kind }>((tie) => ({
  anyKind: fc
    .oneof(
      { maxDepth: 2 },
      fc.constantFrom(...scalars),
      tie('anyKind').map(list),
      fc.array(tie('anyKind'), { minLength: 1, maxLength: 3 }).map(struct),
      fc.array(tie('anyKind'), { minLength: 1, maxLength: 3 }).map(union),
    )
    .map(nullable),
}));

const table = fc.array(anyKind, { minLength: 1, maxLength: 4 }).chain((kinds) =>
  fc.record({
    kinds: fc.constant(kinds),
    rows: fc.array(fc.tuple(...kinds.map(({ cell }) => cell)), { maxLength: 20 }),
  }),
);

test('every row of a random batch is JSON of its own and holds the values', () => {
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 200 }), ({ kinds, rows }, maxBytes) => {
      const columns = kinds.map(({ type }, i) => ({ name: `c${i}`, type }));
      const vectors = kinds.map(({ type }, i) =>
        vectorOf(
          type,
          rows.map((row) => row[i]?.value),
        ),
      );
      const batch = { columns, rows: rows.length, vectors };
      const encoder = createExecJsonEncoder(columns, { quoteLargeNum: false, quoteNonFinite: false });
      const parsed: unknown[] = [];
      for (let row = 0; row < rows.length; ) {
        row = encoder.encodeRows(batch, row, rows.length, maxBytes);
        const piece = encoder.take();
        const json = Buffer.from(piece.bytes).toString();
        expect(JSON.parse(`[${json.slice(0, -1)}]`)).toHaveLength(piece.rows);
        for (const [i, end] of piece.rowEnds.entries()) {
          const slice = piece.bytes.subarray(piece.rowEnds[i - 1] ?? 0, end);
          expect(slice.at(-1)).toBe(44);
          parsed.push(JSON.parse(Buffer.from(slice.subarray(0, -1)).toString()));
        }
      }
      expect(parsed).toEqual(rows.map((row) => row.map(({ json }) => json)));
    }),
    { numRuns: 200 },
  );
});
