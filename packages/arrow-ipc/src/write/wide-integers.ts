import { CodedError, type Vector, vectorPart } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';
import type { ColumnWriter } from './column-writer.ts';
import { FixedColumn } from './flat-columns.ts';

const width = 16;
/** The upper half of 10^38: numbers between its negative and itself surely have at most 38 digits. */
const safeHigh = 0x4b3b4ca85a86c47an;
const limit = 10n ** 38n;

/** 128-bit integers, which Arrow has only as decimals of 38 digits. A longer one is an error, not another number. */
export class WideIntegerColumn implements ColumnWriter {
  readonly #signed: boolean;
  readonly #values = new FixedColumn(width);

  constructor({ signed }: { readonly signed: boolean }) {
    this.#signed = signed;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    return this.#values.bytesOf(vector, from, to);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#check(vector, from, to);
    this.#values.append(vector, from, to);
  }

  take(body: BodyLayout): void {
    this.#values.take(body);
  }

  #check({ data, validity }: Vector, from: number, to: number): void {
    const bytes = vectorPart(data);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let row = from; row < to; row++) {
      const at = row * width + 8;
      const high = this.#signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
      if (high < safeHigh && high > -safeHigh) continue;
      if (validity !== null && ((validity[row >> 3] as number) & (1 << (row & 7))) === 0) continue;
      const value = (high << 64n) | view.getBigUint64(at - 8, true);
      if (value < limit && value > -limit) continue;
      throw new CodedError(
        'unsupported_type',
        `the integer ${value} has more than 38 digits, which Arrow cannot hold`,
        {
          hint: 'cast it to VARCHAR or DOUBLE',
        },
      );
    }
  }
}
