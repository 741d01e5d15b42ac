const mostLevels = 32;

/** Wire types of Thrift's compact protocol. A field of type `true` or `false` has no bytes of its own. */
const wire = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
} as const;

/** Reads what it is asked for of structs in Thrift's compact protocol, and steps over the rest. Bytes that are none throw a RangeError. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** `read` gets each field. It reads the value of a field that it knows, and returns false for any other. */
  struct(read: (id: number) => unknown): void {
    let id = 0;
    for (let head = this.#byte(); head !== 0; head = this.#byte()) {
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      if (read(id) === false) this.#skip(head & 15, 0);
    }
  }

  /** Each item is read by `read`. Gives how many there are. */
  structs(read: () => void): void {
    const { length, type } = this.#listHead();
    if (length > 0 && type !== wire.struct) throw new RangeError('a list has other items than structs');
    for (let item = 0; item < length; item++) read();
  }

  /** A number from 0 to 2^53. */
  count(): number {
    const value = this.#zigzag();
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('a count is out of range');
    return value;
  }

  text(): string {
    const length = this.#varint();
    const start = this.#at;
    this.#step(length);
    return Buffer.from(this.#bytes.subarray(start, this.#at)).toString();
  }

  #skip(type: number, level: number): void {
    if (level > mostLevels) throw new RangeError('the values are nested too deeply');
    switch (type) {
      case wire.true:
      case wire.false:
        return;
      case wire.byte:
        this.#step(1);
        return;
      case wire.double:
        this.#step(8);
        return;
      case wire.binary:
        this.#step(this.#varint());
        return;
      case wire.list:
      case wire.set: {
        const head = this.#listHead();
        for (let item = 0; item < head.length; item++) {
          // In a list a boolean has a byte.
          if (head.type === wire.true || head.type === wire.false) this.#step(1);
          else this.#skip(head.type, level + 1);
        }
        return;
      }
      case wire.struct:
        for (let head = this.#byte(); head !== 0; head = this.#byte()) {
          if (head >> 4 === 0) this.#varint();
          this.#skip(head & 15, level + 1);
        }
        return;
      default:
        if (type < wire.i16 || type > wire.i64) throw new RangeError(`there is no type ${type} here`);
        this.#varint();
    }
  }

  #listHead(): { readonly length: number; readonly type: number } {
    const head = this.#byte();
    const length = head >> 4 === 15 ? this.#varint() : head >> 4;
    // Each item has a byte at least.
    if (length > this.#bytes.length - this.#at) throw new RangeError('a list is longer than what there is');
    return { length, type: head & 15 };
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Exact up to 2^53. */
  #varint(): number {
    let value = 0;
    let unit = 1;
    for (let bytes = 0; bytes < 10; bytes++) {
      const byte = this.#byte();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
      unit *= 128;
    }
    throw new RangeError('a number has too many bytes');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('the bytes end in the middle');
    return byte;
  }

  #step(length: number): void {
    if (length > this.#bytes.length - this.#at) throw new RangeError('the bytes end in the middle');
    this.#at += length;
  }
}
