import { AppError } from '../core/app-error.ts';

/** One field of a protobuf message: a varint as a bigint, anything else as its bytes. */
export interface Field {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** The fields of a message, in the order in which they stand. Repeated numbers are the reader's business. */
export function* readFields(message: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at];
      if (byte === undefined) throw malformed(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed(at);
  };
  /** Tags and lengths: mostly one byte, and there may be millions. */
  const small = (): number => {
    const byte = message[at];
    if (byte === undefined || byte > 0x7f) return Number(varint());
    at += 1;
    return byte;
  };
  const bytes = (length: number): Uint8Array => {
    if (length > message.length - at) throw malformed(at);
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = small();
    const number = Math.floor(tag / 8);
    if (number === 0 || number > 0x1fff_ffff) throw malformed(at);
    switch (tag % 8) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: bytes(8) };
        break;
      case 2:
        yield { number, value: bytes(small()) };
        break;
      case 5:
        yield { number, value: bytes(4) };
        break;
      default:
        throw malformed(at);
    }
  }
}

function malformed(at: number): AppError {
  return new AppError('invalid_input', `the message is not valid protobuf at byte ${at}`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8Field(value: Field['value']): string {
  if (typeof value === 'bigint') throw new AppError('invalid_input', 'a number stands where text is expected');
  try {
    return utf8.decode(value);
  } catch {
    throw new AppError('invalid_input', 'a text field is not valid UTF-8');
  }
}

export function varintField(number: number, value: number | bigint): Uint8Array {
  return Buffer.concat([encodeVarint(number << 3), encodeVarint(value)]);
}

export function bytesField(number: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const tag = encodeVarint((number << 3) | 2);
  const length = encodeVarint(bytes.length);
  const field = Buffer.allocUnsafe(tag.length + length.length + bytes.length);
  field.set(tag, 0);
  field.set(length, tag.length);
  field.set(bytes, tag.length + length.length);
  return field;
}

/** Eight bytes, as fixed64 and double have them, or the four of fixed32 and float. */
export function fixedField(number: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([encodeVarint((number << 3) | (value.length === 4 ? 5 : 1)), value]);
}

/** Negative numbers take ten bytes, as protobuf has it. */
function encodeVarint(value: number | bigint): Uint8Array {
  // Most are small, and numbers are faster than bigints.
  if (value >= 0 && value < 0x80) return Uint8Array.of(Number(value));
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
