import { FlightData } from '@framehold/grpc/flight';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchData, schemaData } from './flight-data.ts';

function encapsulated(header: Uint8Array, body: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(8, 0xff);
  prefix.writeUInt32LE(header.length, 4);
  return Buffer.concat([prefix, header, body]);
}

it('carries header and body as they are, the body at a multiple of 8 and not copied', () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' });
  const headers = bytes(2000).map((all) => all.subarray(0, all.length - (all.length % 8)));
  fc.assert(
    fc.property(headers, bytes(70_000), (header, body) => {
      const message = encapsulated(header, body);
      const [head, sent, ...rest] = batchData(message) as Uint8Array[];
      expect(rest).toEqual([]);
      expect(head?.length).toSatisfy((length: number) => length % 8 === 0);
      expect(sent?.buffer).toBe(message.buffer);
      const read = FlightData.decode(Buffer.concat([head ?? body, sent ?? body]));
      expect(Buffer.from(read.dataBody).equals(body)).toBe(true);
      expect(Buffer.from(read.dataHeader).equals(header)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

it('writes a body of nothing, which some readers miss when it is left out', () => {
  const [head] = batchData(encapsulated(Buffer.alloc(8), Buffer.alloc(0))) as Uint8Array[];
  expect(Buffer.from(head ?? []).subarray(-6)).toEqual(Buffer.from([0xc2, 0x3e, 0x80, 0x80, 0x80, 0]));
});

it('carries a schema without a body', () => {
  const data = schemaData(encapsulated(Buffer.from('schema'), Buffer.alloc(0))) as Uint8Array;
  expect(Buffer.from(data)).toEqual(Buffer.from('\x12\x06schema'));
});
