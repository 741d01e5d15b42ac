import { type ByteSink, MINUS, QUOTE, typedView, type Vector } from '@framehold/columns';
import type { ValueWriter } from './cell.ts';
import { writeUint53 } from './digits.ts';
import { FLOAT_TEXT_BYTES, writeFloat32, writeFloat64 } from './float-text.ts';
import { writeInt64, writeUint64 } from './int64-text.ts';
import { INT128_TEXT_BYTES, insertPoint, writeInt128 } from './int128-text.ts';

const INTEGER_BYTES = 24;

const views = {
  signed: { 8: Int8Array, 16: Int16Array, 32: Int32Array },
  unsigned: { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array },
} as const;

/** Integers of up to 32 bits. */
export function intValues(sink: ByteSink, bits: 8 | 16 | 32, signed: boolean, quoted: boolean): ValueWriter {
  const View = views[signed ? 'signed' : 'unsigned'][bits];
  let values: Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array = new View(0);
  return {
    bind(vector: Vector) {
      values = typedView<typeof values>(View, vector.data);
    },
    write(row, at) {
      const out = sink.reserve(at, INTEGER_BYTES);
      const value = values[row] as number;
      if (quoted) out.setUint8(at++, QUOTE);
      if (value < 0) out.setUint8(at++, MINUS);
      at = writeUint53(out, at, Math.abs(value));
      if (quoted) out.setUint8(at++, QUOTE);
      return at;
    },
  };
}

export function int64Values(sink: ByteSink, signed: boolean, quoted: boolean): ValueWriter {
  const writeDigits = signed ? writeInt64 : writeUint64;
  let words = new Int32Array(0);
  return {
    bind(vector) {
      words = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const out = sink.reserve(at, INTEGER_BYTES);
      if (quoted) out.setUint8(at++, QUOTE);
      at = writeDigits(out, at, words[row * 2 + 1] as number, words[row * 2] as number);
      if (quoted) out.setUint8(at++, QUOTE);
      return at;
    },
  };
}

/** Decimals, and 128-bit integers as those of scale 0: strings with every digit. */
export function decimalValues(sink: ByteSink, scale: number, signed: boolean): ValueWriter {
  let words = new Int32Array(0);
  return {
    bind(vector) {
      words = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const out = sink.reserve(at, INT128_TEXT_BYTES);
      out.setUint8(at, QUOTE);
      const end = insertPoint(out, at + 1, writeInt128(out, at + 1, words, row * 4, signed), scale);
      out.setUint8(end, QUOTE);
      return end + 1;
    },
  };
}

/** `namesNonFinite`: NaN and the infinities are texts; else null, for which JSON has a word. */
export function float64Values(sink: ByteSink, namesNonFinite: boolean): ValueWriter {
  let values = new Float64Array(0);
  return {
    bind(vector) {
      values = typedView(Float64Array, vector.data);
    },
    write(row, at) {
      const value = values[row] as number;
      if (!Number.isFinite(value)) return namesNonFinite ? sink.ascii(at, `"${value}"`) : sink.null(at);
      return writeFloat64(sink.reserve(at, FLOAT_TEXT_BYTES), at, value);
    },
  };
}

export function float32Values(sink: ByteSink, namesNonFinite: boolean): ValueWriter {
  let values = new Float32Array(0);
  return {
    bind(vector) {
      values = typedView(Float32Array, vector.data);
    },
    write(row, at) {
      const value = values[row] as number;
      if (!Number.isFinite(value)) return namesNonFinite ? sink.ascii(at, `"${value}"`) : sink.null(at);
      return writeFloat32(sink.reserve(at, FLOAT_TEXT_BYTES), at, value);
    },
  };
}
