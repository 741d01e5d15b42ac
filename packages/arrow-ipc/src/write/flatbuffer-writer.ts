const FIRST_BYTES = 1024;
/** Objects that are written in a step: some milliseconds at most, unless they are long. */
const stepObjects = 500;
const encoder = new TextEncoder();

/** A number in the table itself. */
export interface FlatScalar {
  readonly bytes: 1 | 2 | 4 | 8;
  readonly value: number;
}

/** The target of a table's reference. */
export type FlatObject =
  | FlatTable
  | { readonly text: string }
  | { readonly objects: readonly FlatObject[] }
  /** Made once its turn to be written has come. */
  | { readonly make: () => FlatObject }
  | { readonly int32s: readonly number[] }
  /** Structs of two int64 that are not negative, one behind the other. */
  | { readonly int64Pairs: readonly number[] };

export interface FlatTable {
  /** By slot. */
  readonly fields: readonly (FlatScalar | FlatObject | undefined)[];
}

export const flatInt8 = (value: number): FlatScalar => ({ bytes: 1, value });
export const flatInt16 = (value: number): FlatScalar => ({ bytes: 2, value });
export const flatInt32 = (value: number): FlatScalar => ({ bytes: 4, value });
export const flatInt64 = (value: number): FlatScalar => ({ bytes: 8, value });
export const flatBool = (value: boolean): FlatScalar => ({ bytes: 1, value: value ? 1 : 0 });

/** A flatbuffer, its parts written in the order in which they are reached. */
export function flatbuffer(root: FlatTable): Uint8Array {
  return new FlatbufferWriter().write(root);
}

/** The same in steps, between which others may have their turn; its parts are in another order. */
export function flatbufferSteps(root: FlatTable): Generator<void, Uint8Array, void> {
  return new FlatbufferWriter().steps(root);
}

interface Reference {
  readonly at: number;
  readonly object: FlatObject;
}

class FlatbufferWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  /** Where there are steps: what is still to be written. */
  #later: Reference[] | undefined;

  write(root: FlatTable): Uint8Array {
    const at = this.#reserve(4, 4);
    this.#reference(at, root);
    return this.#bytes.subarray(0, this.#end);
  }

  *steps(root: FlatTable): Generator<void, Uint8Array, void> {
    const later: Reference[] = [];
    this.#later = later;
    this.#reference(this.#reserve(4, 4), root);
    for (let written = 1, next = later.pop(); next !== undefined; written++, next = later.pop()) {
      const target = this.#object(next.object);
      this.#view.setUint32(next.at, target - next.at, true);
      if (written % stepObjects === 0) yield;
    }
    return this.#bytes.subarray(0, this.#end);
  }

  #object(object: FlatObject): number {
    if ('make' in object) return this.#object(object.make());
    if ('fields' in object) return this.#table(object.fields);
    if ('text' in object) return this.#text(object.text);
    if ('objects' in object) return this.#objects(object.objects);
    if ('int32s' in object) return this.#int32s(object.int32s);
    return this.#int64Pairs(object.int64Pairs);
  }

  #table(fields: FlatTable['fields']): number {
    const vtableBytes = 4 + fields.length * 2;
    const vtable = this.#reserve(vtableBytes, 2);
    const places: number[] = [];
    let tableBytes = 4;
    for (const field of fields) {
      const bytes = field === undefined ? 0 : 'bytes' in field ? field.bytes : 4;
      tableBytes = bytes === 0 ? tableBytes : roundUp(tableBytes, bytes);
      places.push(bytes === 0 ? 0 : tableBytes);
      tableBytes += bytes;
    }
    const table = this.#reserve(tableBytes, 8);
    this.#view.setUint16(vtable, vtableBytes, true);
    this.#view.setUint16(vtable + 2, tableBytes, true);
    this.#view.setInt32(table, table - vtable, true);
    for (let slot = 0; slot < fields.length; slot++) {
      const field = fields[slot];
      if (field === undefined) continue;
      const place = places[slot] as number;
      this.#view.setUint16(vtable + 4 + slot * 2, place, true);
      if ('bytes' in field) this.#scalar(table + place, field);
      else this.#reference(table + place, field);
    }
    return table;
  }

  #scalar(at: number, { bytes, value }: FlatScalar): void {
    if (bytes === 1) this.#view.setInt8(at, value);
    else if (bytes === 2) this.#view.setInt16(at, value, true);
    else if (bytes === 4) this.#view.setInt32(at, value, true);
    else this.#setInt64(at, value);
  }

  #reference(at: number, object: FlatObject): void {
    if (this.#later !== undefined) {
      this.#later.push({ at, object });
      return;
    }
    const target = this.#object(object);
    this.#view.setUint32(at, target - at, true);
  }

  #text(text: string): number {
    const bytes = encoder.encode(text);
    // Readers in C++ expect a zero behind the text.
    const at = this.#reserve(4 + bytes.length + 1, 4);
    this.#view.setUint32(at, bytes.length, true);
    this.#bytes.set(bytes, at + 4);
    return at;
  }

  #objects(objects: readonly FlatObject[]): number {
    const at = this.#reserve(4 + objects.length * 4, 4);
    this.#view.setUint32(at, objects.length, true);
    for (let index = 0; index < objects.length; index++)
      this.#reference(at + 4 + index * 4, objects[index] as FlatObject);
    return at;
  }

  #int32s(values: readonly number[]): number {
    const at = this.#reserve(4 + values.length * 4, 4);
    this.#view.setUint32(at, values.length, true);
    for (const [index, value] of values.entries()) this.#view.setInt32(at + 4 + index * 4, value, true);
    return at;
  }

  #int64Pairs(values: readonly number[]): number {
    // The count before the first pair must not push it off its alignment.
    const at = this.#reserve(8 + values.length * 8, 8) + 4;
    this.#view.setUint32(at, values.length / 2, true);
    for (let index = 0; index < values.length; index++) {
      this.#setInt64(at + 4 + index * 8, values[index] as number);
    }
    return at;
  }

  #setInt64(at: number, value: number): void {
    this.#view.setUint32(at, value % 2 ** 32, true);
    this.#view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
  }

  /** Zeroed bytes at the next place of that alignment. */
  #reserve(bytes: number, alignment: number): number {
    const at = roundUp(this.#end, alignment);
    this.#end = at + bytes;
    if (this.#end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#end, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}
