import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import { parseHandle } from '../../core/names/handle.ts';
import { parseReadTarget, ticketOf } from './read-target.ts';

const parse = (text: string) => parseReadTarget(Buffer.from(text), 'the ticket');

it.each(['select 1', 'FROM trades', '\n-- all\nselect *\nfrom trades', 'select\t1'])('takes %j for SQL', (sql) => {
  expect(parse(sql)).toEqual({ kind: 'sql', sql });
});

it.each([
  ['trades', { handle: 'trades', from: 0, to: Infinity }],
  ['select', { handle: 'select', from: 0, to: Infinity }],
  ['frames/trades', { handle: 'trades', from: 0, to: Infinity }],
  [' {"handle":"trades","from":3}', { handle: 'trades', from: 3, to: Infinity }],
])('takes %j for a frame', (text, expected) => {
  expect(parse(text)).toMatchObject({ kind: 'frame', ...expected });
});

it('takes JSON with SQL for SQL', () => {
  expect(parse('{"sql":"select 1"}')).toEqual({ kind: 'sql', sql: 'select 1' });
});

it('does not take a message of Flight SQL for text', () => {
  expect(() => parse('\n3type.googleapis.com/arrow.flight.protocol.sql.Unknown')).toThrow('not understood');
});

it('reads back the tickets that it makes', () => {
  const selection = fc.record(
    {
      kind: fc.constant('frame' as const),
      handle: fc.constant(parseHandle('trades')),
      version: fc.option(fc.nat(), { nil: undefined }),
      columns: fc.option(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), { nil: undefined }),
      from: fc.nat(),
      to: fc.constantFrom(2 ** 40, Infinity),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(selection, (given) => {
      expect(parseReadTarget(ticketOf(given), 'the ticket')).toEqual(given);
    }),
  );
});

it('refuses anything else as a fault of the caller', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        parseReadTarget(bytes, 'the ticket');
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
  );
});
