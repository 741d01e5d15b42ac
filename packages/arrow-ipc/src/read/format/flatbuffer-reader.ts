/** A stream that breaks Arrow's format. The message has the fault; the loader adds the place. */
export class InvalidArrow extends Error {}

/** The form is good, but a value is none of its type. */
export class InvalidValue extends InvalidArrow {
  readonly column: string;
  readonly fault: string;
  /** Row of its batch. */
  readonly row: number;

  constructor(column: string, fault: string, row: number) {
    super(`${column} ${fault} at row ${row}`);
    this.column = column;
    this.fault = fault;
    this.row = row;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A table of a flatbuffer that anybody may have written: every read is checked against the buffer's end. */
export class FlatbufferTable {
  readonly #view: DataView;
  /** Its start in the flatbuffer. */
  readonly at: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  static root(bytes: Uint8Array): FlatbufferTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatbufferTable(view, follow(view, 0));
  }

  private constructor(view: DataView, at: number) {
    need(view, at, 4);
    this.#view = view;
    this.at = at;
    this.#vtable = at - view.getInt32(at, true);
    need(view, this.#vtable, 4);
    this.#vtableBytes = view.getUint16(this.#vtable, true);
    need(view, this.#vtable, this.#vtableBytes);
  }

  uint8(slot: number): number {
    const at = this.#field(slot, 1);
    return at === undefined ? 0 : this.#view.getUint8(at);
  }

  bool(slot: number): boolean {
    return this.uint8(slot) !== 0;
  }

  int16(slot: number, absent = 0): number {
    const at = this.#field(slot, 2);
    return at === undefined ? absent : this.#view.getInt16(at, true);
  }

  int32(slot: number, absent = 0): number {
    const at = this.#field(slot, 4);
    return at === undefined ? absent : this.#view.getInt32(at, true);
  }

  int64(slot: number): number {
    const at = this.#field(slot, 8);
    return at === undefined ? 0 : readInt64(this.#view, at);
  }

  string(slot: number): string | undefined {
    const vector = this.#vector(slot, 1);
    if (vector === undefined) return undefined;
    const { buffer, byteOffset } = this.#view;
    try {
      return decoder.decode(new Uint8Array(buffer, byteOffset + vector.at, vector.count));
    } catch {
      throw new InvalidArrow('a name in its metadata is not UTF-8');
    }
  }

  table(slot: number): FlatbufferTable | undefined {
    const at = this.#field(slot, 4);
    return at === undefined ? undefined : new FlatbufferTable(this.#view, follow(this.#view, at));
  }

  /** Number of items of a vector of tables. */
  count(slot: number): number {
    return this.#vector(slot, 4)?.count ?? 0;
  }

  tables(slot: number): FlatbufferTable[] {
    const vector = this.#vector(slot, 4);
    if (vector === undefined) return [];
    return Array.from(
      { length: vector.count },
      (_, index) => new FlatbufferTable(this.#view, follow(this.#view, vector.at + index * 4)),
    );
  }

  int32s(slot: number): number[] | undefined {
    const vector = this.#vector(slot, 4);
    if (vector === undefined) return undefined;
    return Array.from({ length: vector.count }, (_, index) => this.#view.getInt32(vector.at + index * 4, true));
  }

  int64s(slot: number): number[] {
    const vector = this.#vector(slot, 8);
    if (vector === undefined) return [];
    return Array.from({ length: vector.count }, (_, index) => readInt64(this.#view, vector.at + index * 8));
  }

  /** A vector of structs that are two int64 each. */
  int64Pairs(slot: number): [number, number][] {
    const vector = this.#vector(slot, 16);
    if (vector === undefined) return [];
    return Array.from({ length: vector.count }, (_, index) => {
      const at = vector.at + index * 16;
      return [readInt64(this.#view, at), readInt64(this.#view, at + 8)];
    });
  }

  #field(slot: number, bytes: number): number | undefined {
    const entry = 4 + slot * 2;
    if (entry + 2 > this.#vtableBytes) return undefined;
    const offset = this.#view.getUint16(this.#vtable + entry, true);
    if (offset === 0) return undefined;
    need(this.#view, this.at + offset, bytes);
    return this.at + offset;
  }

  #vector(slot: number, itemBytes: number): { at: number; count: number } | undefined {
    const field = this.#field(slot, 4);
    if (field === undefined) return undefined;
    const at = follow(this.#view, field);
    need(this.#view, at, 4);
    const count = this.#view.getUint32(at, true);
    need(this.#view, at + 4, count * itemBytes);
    return { at: at + 4, count };
  }
}

function follow(view: DataView, at: number): number {
  need(view, at, 4);
  return at + view.getUint32(at, true);
}

function readInt64(view: DataView, at: number): number {
  const value = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
  if (!Number.isSafeInteger(value)) throw new InvalidArrow('a length in its metadata is out of range');
  return value;
}

function need(view: DataView, at: number, bytes: number): void {
  if (at < 0 || at + bytes > view.byteLength) throw new InvalidArrow('its metadata is not a valid flatbuffer');
}
