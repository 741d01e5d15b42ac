import { CodedError, isoDuration, type Vector, vectorPart } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';
import type { ColumnWriter } from './column-writer.ts';
import { FixedColumn } from './flat-columns.ts';

const width = 16;
const mostMicroseconds = (2n ** 63n - 1n) / 1000n;

/** Intervals, whose times Arrow has in nanoseconds. One out of range is an error, not another interval. */
export class IntervalColumn implements ColumnWriter {
  readonly #values = new FixedColumn(width);

  bytesOf(vector: Vector, from: number, to: number): number {
    return this.#values.bytesOf(vector, from, to);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#values.append(vector.hasMicroseconds === true ? inNanoseconds(vector, from, to) : vector, from, to);
  }

  take(body: BodyLayout): void {
    this.#values.take(body);
  }
}

/** Only rows [from, to) are set. */
function inNanoseconds(vector: Vector, from: number, to: number): Vector {
  const source = vectorPart(vector.data);
  const data = new Uint8Array(source.byteLength);
  data.set(source.subarray(from * width, to * width), from * width);
  const view = new DataView(data.buffer);
  for (let row = from; row < to; row++) {
    const at = row * width;
    const microseconds = view.getBigInt64(at + 8, true);
    if (microseconds > mostMicroseconds || microseconds < -mostMicroseconds) {
      throw tooLong(isoDuration(view.getInt32(at, true), view.getInt32(at + 4, true), microseconds * 1000n));
    }
    view.setBigInt64(at + 8, microseconds * 1000n, true);
  }
  return { ...vector, data, hasMicroseconds: false };
}

function tooLong(duration: string): CodedError {
  const message = `the time of the interval ${duration} has 2^63 nanoseconds or more, which Arrow cannot hold`;
  return new CodedError('unsupported_type', message, { hint: 'read it as JSON or CSV, or cast it to VARCHAR' });
}
