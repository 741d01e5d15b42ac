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
  const bytes = (length: number): Uint8Array => {
    if (length > message.length - at) throw malformed(at);
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number === 0 || number > 0x1fff_ffff) throw malformed(at);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: bytes(8) };
        break;
      case 2:
        yield { number, value: bytes(Number(varint())) };
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

export function utf8Field(value: Field['value']): string {
  if (typeof value === 'bigint') throw new AppError('invalid_input', 'a number stands where text is expected');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value);
  } catch {
    throw new AppError('invalid_input', 'a text field is not valid UTF-8');
  }
}

export function varintField(number: number, value: number): Uint8Array {
  return Buffer.concat([encodeVarint(number << 3), encodeVarint(value)]);
}

export function bytesField(number: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([encodeVarint((number << 3) | 2), encodeVarint(bytes.length), bytes]);
}

function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
