import { CodedError } from '@framehold/columns';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bytesField, type Field, readFields, varintField } from './protobuf.ts';

function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  readFields(message, (number, value) => fields.push({ number, value }));
  return fields;
}

it('reads back what it writes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.maxSafeNat(), fc.uint8Array(), (number, value, bytes) => {
      const message = Buffer.concat([varintField(number, value), bytesField(number, bytes)]);
      const [first, second, ...rest] = fieldsOf(message);
      expect(first).toEqual({ number, value: BigInt(value) });
      expect(Buffer.from(second?.value as Uint8Array)).toEqual(Buffer.from(bytes));
      expect(rest).toEqual([]);
    }),
  );
});

it('reads any bytes to their end or refuses them as invalid_input', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        for (const field of fieldsOf(bytes)) expect(field.number).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(CodedError);
        expect(error).toMatchObject({ code: 'invalid_input' });
      }
    }),
    { numRuns: 2000 },
  );
});
