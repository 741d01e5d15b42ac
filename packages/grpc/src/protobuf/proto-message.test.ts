import { FlightDescriptor, GetSessionOptionsResult, SessionOptionValue } from '@framehold/grpc/flight';
import { expect, it } from 'vitest';
import { message, uint32s } from './proto-message.ts';
import { bytesField } from './protobuf.ts';

/** Written by Google's own protobuf for Python. */
const noValue = SessionOptionValue.decode(new Uint8Array(0));

it.each([
  ['0a0161', { string: 'a' }],
  ['0a00', { string: '' }],
  ['1000', { bool: false }],
  ['1001', { bool: true }],
  ['19feffffffffffffff', { int64: -2n }],
  ['21000000000000f83f', { double: 1.5 }],
  ['2a060a01610a0162', { stringList: { values: ['a', 'b'] } }],
])('reads and writes %s', (hex, expected) => {
  expect(SessionOptionValue.decode(Buffer.from(hex, 'hex'))).toEqual({ ...noValue, ...expected });
  expect(Buffer.from(SessionOptionValue.encode(expected)).toString('hex')).toBe(hex);
});

it('reads and writes a map', () => {
  const hex = '0a080a016b12030a0176';
  const sessionOptions = new Map([['k', { ...noValue, string: 'v' }]]);
  expect(Buffer.from(GetSessionOptionsResult.encode({ sessionOptions })).toString('hex')).toBe(hex);
  expect(GetSessionOptionsResult.decode(Buffer.from(hex, 'hex'))).toEqual({ sessionOptions });
});

it('refuses fields of another shape', () => {
  for (const hex of ['0801', '1a0161', '190161', '3900']) {
    expect(() => SessionOptionValue.decode(Buffer.from(hex, 'hex'))).toThrow();
  }
});

it.each([
  ['parts of a path', FlightDescriptor, '1a00', 40_000],
  ['fields that it does not know', FlightDescriptor, '7801', 70_000],
  ['entries of a map', GetSessionOptionsResult, '0a080a016b12030a0176', 20_000],
  ['packed numbers', message({ numbers: uint32s(1) }), '01', 70_000],
])('refuses a message of more %s than are read in one go', (_, type, hex, count) => {
  const repeated = Buffer.from(hex.repeat(count), 'hex');
  const bytes = hex === '01' ? bytesField(1, repeated) : repeated;
  expect(() => type.decode(bytes)).toThrow(expect.objectContaining({ code: 'too_large' }));
});
