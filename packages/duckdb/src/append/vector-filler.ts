import {
  type ArrowColumn,
  allBits,
  bitAt,
  bothPresent,
  clearBit,
  divide,
  int32View,
  isPresent,
  repeatBits,
  unsupported,
} from '@framehold/arrow-ipc';
import { type DataType, fixedSizeBytes, type Vector, vectorPart } from '@framehold/columns';
import { copyMemory } from '../c/c-api.ts';
import { type Address, addressOf, vectorApi } from '../c/vector-api.ts';

/** DuckDB's string: 4 bytes of length, then up to 12 bytes of text (zeros behind), or 4 bytes of it and a pointer. */
const stringBytes = 16;
const inlineBytes = 12;

/** Writes our vectors into DuckDB's. Long strings are not copied: DuckDB's entries point into our vector. */
export class VectorFiller {
  /** Memory in which values are put together before they are copied. */
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);

  /** `sent` names the values in errors. Rows that are null in the `parent` are null in the target, too. */
  fill(target: Address, vector: Vector, sent: ArrowColumn, parent: Uint8Array | null = null): void {
    const { type, length, children } = vector;
    const validity = bothPresent(vector.validity, parent);
    const fillChild = (child: Address, index: number, present: Uint8Array | null): void => {
      const column = (sent.dictionary ?? sent).children[index] as ArrowColumn;
      this.fill(child, vectorPart(children[index]), column, present);
    };
    if (validity !== null) setValidity(target, validity, length);
    switch (type.kind) {
      case 'null':
        return;
      case 'struct':
        children.forEach((_, index) => {
          fillChild(vectorApi.structChild(target, index), index, validity);
        });
        return;
      case 'list':
      case 'map':
        this.#storeLists(target, vector, validity);
        fillChild(vectorApi.listChild(target), 0, null);
        return;
      case 'array':
        fillChild(vectorApi.arrayChild(target), 0, validity && repeatBits(validity, length, type.size));
        return;
      case 'union':
        this.#storeMembers(target, vector, validity).forEach((present, member) => {
          fillChild(vectorApi.structChild(target, member + 1), member, present);
        });
        return;
      default:
        this.#storeValues(vectorApi.data(target), { ...vector, validity }, type, sent);
    }
  }

  #storeValues(target: Address, vector: Vector, type: FlatType, sent: ArrowColumn): void {
    const { length } = vector;
    const data = vectorPart(vector.data);
    switch (type.kind) {
      case 'boolean':
        this.#prepare(length);
        for (let row = 0; row < length; row++) this.#bytes[row] = bitAt(data, row) ? 1 : 0;
        this.#copyTo(target, length);
        return;
      case 'timestamp':
        if (type.zoned && type.unit === 'ns') this.#storeMicros(target, vector, 0, 2, sent);
        else copyMemory(target, addressOf(data), length * fixedSizeBytes(type));
        return;
      case 'int':
      case 'float':
      case 'date':
      case 'time':
        copyMemory(target, addressOf(data), length * fixedSizeBytes(type));
        return;
      case 'interval':
        this.#storeMicros(target, vector, 2, 4, sent);
        return;
      case 'decimal':
        this.#storeDecimals(target, vector, type.precision);
        return;
      case 'uuid':
        this.#storeUuids(target, vector);
        return;
      case 'utf8':
      case 'json':
      case 'binary':
        this.#pointToStrings(target, vector);
        return;
      default:
        (type) satisfies never;
    }
  }

  /** DuckDB's list entry: u64 offset among the elements, u64 length. */
  #storeLists(target: Address, vector: Vector, validity: Uint8Array | null): void {
    const { length } = vector;
    const offsets = vectorPart(vector.offsets);
    const words = this.#prepare(length * 16);
    words.fill(0, 0, length * 4);
    for (let row = 0; row < length; row++) {
      const offset = offsets[row] as number;
      words[row * 4] = offset;
      if (isPresent(validity, row)) words[row * 4 + 2] = (offsets[row + 1] as number) - offset;
    }
    this.#copyTo(vectorApi.data(target), length * 16);
    const elements = vectorPart(vector.children[0]).length;
    if (vectorApi.reserveList(target, elements) !== 0 || vectorApi.setListSize(target, elements) !== 0) {
      throw new Error('DuckDB does not make room for the elements of a list');
    }
  }

  /**
   * DuckDB's union is a struct of the member's number and of all members, where all but one are null. Returns the rows of each
   * member.
   */
  #storeMembers(target: Address, vector: Vector, validity: Uint8Array | null): Uint8Array[] {
    const { length, children } = vector;
    const members = vectorPart(vector.data);
    const rowsOf = children.map(() => new Uint8Array((length + 7) >> 3));
    const present = allBits(length);
    for (let row = 0; row < length; row++) {
      const rows = vectorPart(rowsOf[members[row] as number]);
      // A union has no nulls of its own in Arrow: a row is null where its member is.
      if (!isPresent(validity, row) || isNull(vector, row)) clearBit(present, row);
      else rows[row >> 3] = (rows[row >> 3] as number) | (1 << (row & 7));
    }
    const tags = vectorApi.structChild(target, 0);
    setValidity(target, present, length);
    setValidity(tags, present, length);
    copyMemory(vectorApi.data(tags), addressOf(members), length);
    return rowsOf;
  }

  /** The 64 bits at word `at` of each value are nanoseconds; DuckDB has microseconds there. */
  #storeMicros(target: Address, { length, validity, data }: Vector, at: number, step: number, sent: ArrowColumn): void {
    const values = int32View(vectorPart(data), length * step);
    const words = this.#prepare(length * step * 4);
    words.set(values);
    for (let word = at, row = 0; row < length; row++, word += step) {
      const isWhole = divide(values[word + 1] as number, (values[word] as number) >>> 0, 1000, words, word);
      if (isWhole || !isPresent(validity, row)) continue;
      const { field, firstRow = 0 } = sent;
      const what = field.type.kind === 'timestamp' ? 'timestamps with a zone' : `${field.type.kind}s`;
      throw unsupported(
        field,
        `${what} finer than microseconds (row ${firstRow + row})`,
        'round them to microseconds, and to milliseconds where a frame is to keep them',
      );
    }
    this.#copyTo(target, length * step * 4);
  }

  /** DuckDB keeps a decimal in as few bytes as its precision needs. */
  #storeDecimals(target: Address, { length, data }: Vector, precision: number): void {
    const bytes = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
    const values = vectorPart(data);
    if (bytes === 16) {
      copyMemory(target, addressOf(values), length * 16);
      return;
    }
    this.#prepare(length * bytes);
    for (let row = 0; row < length; row++) {
      for (let n = 0; n < bytes; n++) this.#bytes[row * bytes + n] = values[row * 16 + n] as number;
    }
    this.#copyTo(target, length * bytes);
  }

  /** DuckDB keeps a UUID as a 128-bit integer with its first bit flipped, so that it sorts as its text. */
  #storeUuids(target: Address, { length, validity, offsets, data }: Vector): void {
    const texts = vectorPart(data);
    this.#prepare(length * 16);
    for (let row = 0; row < length; row++) {
      if (!isPresent(validity, row)) continue;
      let at = vectorPart(offsets)[row] as number;
      for (let byte = 15; byte >= 0; byte--, at += 2) {
        if (texts[at] === dash) at++;
        this.#bytes[row * 16 + byte] = (hexDigit(texts[at] as number) << 4) | hexDigit(texts[at + 1] as number);
      }
      this.#bytes[row * 16 + 15] = (this.#bytes[row * 16 + 15] as number) ^ 0x80;
    }
    this.#copyTo(target, length * 16);
  }

  /** Strings that point into the vector: it must stay until the chunk has been appended. */
  #pointToStrings(target: Address, vector: Vector): void {
    const { length, validity } = vector;
    const offsets = vectorPart(vector.offsets);
    const data = vectorPart(vector.data);
    const base = addressOf(data);
    const words = this.#prepare(length * stringBytes);
    words.fill(0, 0, length * 4);
    for (let row = 0; row < length; row++) {
      if (!isPresent(validity, row)) continue;
      const from = offsets[row] as number;
      const bytes = (offsets[row + 1] as number) - from;
      const isInline = bytes <= inlineBytes;
      const text = row * stringBytes + 4;
      words[row * 4] = bytes;
      for (let n = 0; n < (isInline ? bytes : 4); n++) this.#bytes[text + n] = data[from + n] as number;
      if (isInline) continue;
      words[row * 4 + 2] = (base + from) | 0;
      words[row * 4 + 3] = Math.floor((base + from) / 2 ** 32);
    }
    this.#copyTo(target, length * stringBytes);
  }

  /** Makes room; old content is lost. */
  #prepare(bytes: number): Int32Array {
    if (this.#bytes.length < bytes) {
      const memory = new ArrayBuffer(2 ** Math.ceil(Math.log2(Math.max(bytes, 32_768))));
      this.#bytes = new Uint8Array(memory);
      this.#words = new Int32Array(memory);
    }
    return this.#words;
  }

  #copyTo(target: Address, bytes: number): void {
    copyMemory(target, addressOf(this.#bytes), bytes);
  }
}

/** A type whose values are stored in the vector itself. */
type FlatType = Exclude<DataType, { kind: 'null' | 'struct' | 'list' | 'map' | 'array' | 'union' }>;

const dash = 45;

function hexDigit(code: number): number {
  return (code & 15) + (code >> 6) * 9;
}

function setValidity(target: Address, bits: Uint8Array, count: number): void {
  vectorApi.makeValidity(target);
  copyMemory(vectorApi.validity(target), addressOf(bits), (count + 7) >> 3);
}

/** Whether a value is null, be it by its vector or by the member of a union. */
function isNull({ type, validity, data, children }: Vector, row: number): boolean {
  if (type.kind !== 'union') return !isPresent(validity, row);
  return isNull(vectorPart(children[vectorPart(data)[row] as number]), row);
}
