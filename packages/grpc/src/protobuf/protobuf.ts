import { CodedError } from '@framehold/columns';

/** One field of a protobuf message: a varint as a bigint, any other as its bytes. */
export interface Field {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** A message is read in one go, in 50 ms at most. */
const mostFields = 65_536;

/** The number of further fields that a message may have, with those of inner messages. */
export class FieldBudget {
  #left = mostFields;

  take(fields: number): void {
    this.#left -= fields;
    if (this.#left >= 0) return;
    throw new CodedError('too_large', `the message has more than ${mostFields} fields`, { hint: 'send fewer at once' });
  }
}

/** Passes the fields of a message to a listener, in their order. The listener handles repeated numbers. */
export function readFields(
  message: Uint8Array,
  onField: (number: number, value: Field['value']) => void,
  budget = new FieldBudget(),
): void {
  const reader = new FieldReader(message);
  while (!reader.isAtEnd) {
    budget.take(1);
    const tag = reader.small();
    const number = Math.floor(tag / 8);
    if (number === 0 || number > 0x1fff_ffff) throw reader.malformed();
    onField(number, reader.value(tag % 8));
  }
}

const lengthDelimited = 2;

/**
 * Looks for a field of bytes that ends a message of `length` bytes, of which only the beginning has arrived: the start of the
 * field, and of its bytes. Undefined if it does not begin here, or does not end the message.
 */
export function lastField(
  beginning: Uint8Array,
  length: number,
  number: number,
): { readonly from: number; readonly bytesFrom: number } | undefined {
  const reader = new FieldReader(beginning);
  try {
    while (!reader.isAtEnd) {
      const from = reader.position;
      const tag = reader.small();
      if (tag === number * 8 + lengthDelimited) {
        const bytes = reader.small();
        return reader.position + bytes === length ? { from, bytesFrom: reader.position } : undefined;
      }
      reader.value(tag % 8);
    }
  } catch {
    // More bytes are needed before it can be read, or its fault be found.
  }
  return undefined;
}

class FieldReader {
  readonly #message: Uint8Array;
  #at = 0;

  constructor(message: Uint8Array) {
    this.#message = message;
  }

  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#message.length;
  }

  value(wireType: number): Field['value'] {
    switch (wireType) {
      case 0:
        return this.varint();
      case 1:
        return this.bytes(8);
      case lengthDelimited:
        return this.bytes(this.small());
      case 5:
        return this.bytes(4);
      default:
        throw this.malformed();
    }
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#message[this.#at];
      if (byte === undefined) throw this.malformed();
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw this.malformed();
  }

  /** Tags and lengths: mostly one byte, and there may be millions. */
  small(): number {
    const byte = this.#message[this.#at];
    if (byte === undefined || byte > 0x7f) return Number(this.varint());
    this.#at += 1;
    return byte;
  }

  bytes(length: number): Uint8Array {
    const start = this.#at;
    if (length > this.#message.length - start) throw this.malformed();
    this.#at += length;
    return this.#message.subarray(start, this.#at);
  }

  malformed(): CodedError {
    return new CodedError('invalid_input', `the message is not valid protobuf at byte ${this.#at}`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8Field(value: Field['value']): string {
  if (typeof value === 'bigint') throw new CodedError('invalid_input', 'a number stands where text is expected');
  try {
    return utf8.decode(value);
  } catch {
    throw new CodedError('invalid_input', 'a text field is not valid UTF-8');
  }
}

export function varintField(number: number, value: number | bigint): Uint8Array {
  return written((out) => out.varint(number, value));
}

export function bytesField(number: number, value: Uint8Array | string): Uint8Array {
  return written((out) => out.bytes(number, value));
}

function written(write: (out: FieldWriter) => void): Uint8Array {
  const out = new FieldWriter();
  write(out);
  return out.take();
}

const firstBytes = 128;
const longestVarint = 10;

/** Fields of a message, one behind the other. */
export class FieldWriter {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  /** Negative numbers take ten bytes, as in protobuf. */
  varint(number: number, value: number | bigint): void {
    this.#makeRoom(2 * longestVarint);
    this.#append(number << 3);
    this.#append(value);
  }

  bytes(number: number, value: Uint8Array | string): void {
    const length = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
    this.#makeRoom(2 * longestVarint + length);
    this.#append((number << 3) | 2);
    this.#append(length);
    if (typeof value === 'string') this.#bytes.write(value, this.#length);
    else this.#bytes.set(value, this.#length);
    this.#length += length;
  }

  /** Eight bytes, as fixed64 and double have them, or the four of fixed32 and float. */
  fixed(number: number, value: Uint8Array): void {
    this.#makeRoom(longestVarint + value.length);
    this.#append((number << 3) | (value.length === 4 ? 5 : 1));
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  #append(value: number | bigint): void {
    // Most are small, and numbers are faster than bigints.
    if (value >= 0 && value < 0x80) {
      this.#bytes[this.#length++] = Number(value);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 0x7fn) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }
}
