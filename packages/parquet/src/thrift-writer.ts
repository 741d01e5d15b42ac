import { GrowingBytes } from '@framehold/columns';

/** Wire types of Thrift's compact protocol. */
const wire = { true: 1, false: 2, i16: 4, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Writes structs in Thrift's compact protocol, in which Parquet keeps all that it says about its pages. */
export class ThriftWriter {
  readonly #out = new GrowingBytes();
  #lastField = 0;

  bool(id: number, value: boolean): void {
    this.#field(id, value ? wire.true : wire.false);
  }

  i16(id: number, value: number): void {
    this.#field(id, wire.i16);
    this.#varint(zigzag(value));
  }

  i32(id: number, value: number): void {
    this.#field(id, wire.i32);
    this.#varint(zigzag(value));
  }

  i64(id: number, value: number): void {
    this.#field(id, wire.i64);
    this.#varint(zigzag(value));
  }

  binary(id: number, value: Uint8Array): void {
    this.#field(id, wire.binary);
    this.#bytes(value);
  }

  text(id: number, value: string): void {
    this.binary(id, Buffer.from(value));
  }

  struct(id: number, fields: () => void): void {
    this.#field(id, wire.struct);
    this.#struct(fields);
  }

  structs<T>(id: number, items: readonly T[], fields: (item: T, index: number) => void): void {
    this.#list(id, wire.struct, items.length);
    items.forEach((item, index) => {
      this.#struct(() => fields(item, index));
    });
  }

  /** Structs that were written before, each with its end. */
  encodedStructs(id: number, items: readonly Uint8Array[]): void {
    this.#list(id, wire.struct, items.length);
    for (const item of items) this.#out.append(item, 0, item.length);
  }

  i32s(id: number, values: readonly number[]): void {
    this.#list(id, wire.i32, values.length);
    for (const value of values) this.#varint(zigzag(value));
  }

  texts(id: number, values: readonly string[]): void {
    this.#list(id, wire.binary, values.length);
    for (const value of values) this.#bytes(Buffer.from(value));
  }

  /** The bytes of the struct whose fields were written. */
  end(): Uint8Array {
    this.#byte(0);
    const { length } = this.#out;
    return this.#out.take().subarray(0, length);
  }

  #struct(fields: () => void): void {
    const outer = this.#lastField;
    this.#lastField = 0;
    fields();
    this.#byte(0);
    this.#lastField = outer;
  }

  #field(id: number, type: number): void {
    // Ids ascend, and by no more than 15 in any struct of Parquet.
    this.#byte(((id - this.#lastField) << 4) | type);
    this.#lastField = id;
  }

  #list(id: number, type: number, length: number): void {
    this.#field(id, wire.list);
    if (length < 15) this.#byte((length << 4) | type);
    else {
      this.#byte(0xf0 | type);
      this.#varint(length);
    }
  }

  #bytes(value: Uint8Array): void {
    this.#varint(value.length);
    this.#out.append(value, 0, value.length);
  }

  /** Of a number up to 2^53: bits would end at 2^32. */
  #varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.#byte((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.#byte(rest);
  }

  #byte(value: number): void {
    const at = this.#out.extend(1);
    this.#out.bytes[at] = value;
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
