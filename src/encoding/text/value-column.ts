import { type DataType, isUuidText, type Slab, type Vector } from '@framehold/columns';
import { powerOfTen } from './decimal-quotient.ts';
import { doubleOf, floatOf, NumberText } from './number-text.ts';
import { isPlainJson } from './plain-json.ts';
import { TimeText } from './time-text.ts';

const time = new TimeText();
const number = new NumberText();
const firstRows = 16;
const firstTextBytes = 256;
/** Of fewer seconds, the microseconds are exact in a double. */
const exactSeconds = Math.floor(Number.MAX_SAFE_INTEGER / 1e6) - 1;
/** Seconds since 1970 of the years 1678 and 2262, between which there are nanoseconds. */
const nanoSeconds = { from: -9_214_560_000, to: 9_214_646_400 } as const;
const wordPart = 2 ** -32;
const noOffsets = new Int32Array(0);

/** Whether values of a type can be read from text here; those of other types are left to the engine. */
export function hasTextValues(type: DataType): boolean {
  switch (type.kind) {
    case 'int':
      return type.bits !== 128;
    case 'timestamp':
      return type.unit === 'us' || (type.unit === 'ns' && !type.zoned);
    case 'boolean':
    case 'float':
    case 'decimal':
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'date':
    case 'time':
      return true;
    default:
      return false;
  }
}

/**
 * The values of one column, read from text. It takes values as the engine's import would store them in a column of the type; if
 * that is not certain it takes none.
 */
export class ValueColumn {
  readonly #type: DataType;
  /** Bytes of a value; 0 of texts. */
  readonly #width: number;
  readonly #slab: Slab;
  #capacity = firstRows;
  #rows = 0;
  #validity: Uint8Array | null = null;
  /** Values, or the bytes of texts. */
  #bytes: Uint8Array;
  #view: DataView;
  #start: number;
  #textCapacity = 0;
  /** For texts: the start of each, and the end of the last. */
  #offsets: Int32Array = noOffsets;

  constructor(type: DataType, slab: Slab) {
    this.#type = type;
    this.#slab = slab;
    this.#width = widthOf(type);
    const isText = this.#width === 0;
    const piece = slab.take(isText ? firstTextBytes : firstRows * this.#width);
    this.#bytes = piece.bytes;
    this.#view = piece.view;
    this.#start = piece.start;
    if (!isText) return;
    this.#textCapacity = firstTextBytes;
    const offsets = slab.take((firstRows + 1) * 4);
    this.#offsets = new Int32Array(offsets.bytes.buffer, offsets.start, firstRows + 1);
  }

  get rows(): number {
    return this.#rows;
  }

  addNull(): void {
    this.#reserve();
    this.#validity ??= new Uint8Array(this.#capacity >> 3).fill(255);
    const row = this.#rows++;
    this.#validity[row >> 3] = (this.#validity[row >> 3] as number) & ~(1 << (row & 7));
    if (this.#width === 0) this.#offsets[row + 1] = this.#offsets[row] as number;
  }

  /** Takes the text in the bytes [from, end), which are valid UTF-8. False: it may be no value of the type. */
  add(bytes: Uint8Array, from: number, end: number): boolean {
    this.#reserve();
    if (!this.#set(bytes, from, end, this.#rows)) return false;
    this.#rows++;
    return true;
  }

  take(): Vector {
    const rows = this.#rows;
    const isText = this.#width === 0;
    const bits = (rows + 7) >> 3;
    const dataBytes = isText
      ? (this.#offsets[rows] as number)
      : this.#type.kind === 'boolean'
        ? bits
        : rows * this.#width;
    return {
      type: this.#type,
      length: rows,
      validity: this.#validity === null ? null : this.#validity.subarray(0, bits),
      offsets: isText ? this.#offsets.subarray(0, rows + 1) : null,
      data: this.#bytes.subarray(this.#start, this.#start + dataBytes),
      children: [],
    };
  }

  #set(bytes: Uint8Array, from: number, end: number, row: number): boolean {
    const type = this.#type;
    switch (type.kind) {
      case 'utf8':
        return this.#setText(bytes, from, end, row);
      case 'json':
        return isPlainJson(bytes, from, end) && this.#setText(bytes, from, end, row);
      case 'uuid':
        return isUuidText(bytes, from, end) && this.#setText(bytes, from, end, row);
      case 'boolean':
        return this.#setBoolean(bytes, from, end, row);
      case 'int':
        return this.#setInteger(bytes, from, end, row, type);
      case 'float': {
        const double = doubleOf(bytes, from, end);
        const value = type.bits === 32 ? floatOf(double) : double;
        if (Number.isNaN(value)) return false;
        if (type.bits === 32) this.#view.setFloat32(this.#start + row * 4, value, true);
        else this.#view.setFloat64(this.#start + row * 8, value, true);
        return true;
      }
      case 'decimal': {
        const isFixed = number.read(bytes, from) && number.end === end && number.isFixed;
        return isFixed && this.#setDecimal(number.toUnscaled(type), row);
      }
      case 'date':
        if (!time.readDate(bytes, from) || time.end !== end) return false;
        this.#view.setInt32(this.#start + row * 4, time.day, true);
        return true;
      case 'time':
        return time.readClock(bytes, from) && time.hasSeconds && time.end === end && this.#setInstant(row, type.unit);
      case 'timestamp': {
        const isWhole = time.readTimestamp(bytes, from) && time.hasClock === time.hasSeconds && time.end === end;
        return isWhole && this.#setInstant(row, type.unit);
      }
      default:
        return false;
    }
  }

  #setText(bytes: Uint8Array, from: number, end: number, row: number): boolean {
    const start = this.#offsets[row] as number;
    const stop = start + end - from;
    if (stop > this.#textCapacity) this.#reserveText(start, 2 * stop);
    const data = this.#bytes;
    const to = this.#start + start - from;
    if (end - from > 64) data.set(bytes.subarray(from, end), to + from);
    else for (let at = from; at < end; at++) data[to + at] = bytes[at] as number;
    this.#offsets[row + 1] = stop;
    return true;
  }

  #setBoolean(bytes: Uint8Array, from: number, end: number, row: number): boolean {
    const isTrue = isWord(bytes, from, end, 'true');
    if (!isTrue && !isWord(bytes, from, end, 'false')) return false;
    const at = this.#start + (row >> 3);
    if (isTrue) this.#bytes[at] = (this.#bytes[at] as number) | (1 << (row & 7));
    return true;
  }

  #setInteger(
    bytes: Uint8Array,
    from: number,
    end: number,
    row: number,
    { bits, signed }: DataType & { kind: 'int' },
  ): boolean {
    if (!number.read(bytes, from) || number.end !== end || !number.isWhole || !number.isFixed) return false;
    if (!signed && number.isNegative) return false;
    if (bits === 64) return this.#setLong(this.#start + row * 8, signed);
    const value = number.toShort();
    const most = 2 ** (signed ? bits - 1 : bits);
    if (!(value >= -most && value < most)) return false;
    if (bits === 32) this.#view.setInt32(this.#start + row * 4, value, true);
    else if (bits === 16) this.#view.setInt16(this.#start + row * 2, value, true);
    else this.#view.setInt8(this.#start + row, value);
    return true;
  }

  #setLong(at: number, signed: boolean): boolean {
    if (number.toLong()) {
      this.#view.setInt32(at, number.low, true);
      this.#view.setInt32(at + 4, number.high, true);
      return true;
    }
    const value = number.toBigInt();
    if (signed || BigInt.asUintN(64, value) !== value) return false;
    this.#view.setBigUint64(at, value, true);
    return true;
  }

  #setDecimal(value: number | bigint | undefined, row: number): boolean {
    if (value === undefined) return false;
    const at = this.#start + row * 16;
    if (typeof value === 'bigint') {
      this.#view.setBigUint64(at, BigInt.asUintN(64, value), true);
      this.#view.setBigInt64(at + 8, value >> 64n, true);
      return true;
    }
    this.#setInt64(at, value);
    this.#setInt64(at + 8, value < 0 ? -1 : 0);
    return true;
  }

  /** Stores the time that was read. */
  #setInstant(row: number, unit: 's' | 'ms' | 'us' | 'ns'): boolean {
    const { seconds, fraction, digits } = time;
    const at = this.#start + row * 8;
    if (unit === 'us') {
      if (digits > 6) return false;
      const micros = fraction * powerOfTen(6 - digits);
      if (Math.abs(seconds) < exactSeconds) this.#setInt64(at, seconds * 1e6 + micros);
      else this.#view.setBigInt64(at, BigInt(seconds) * 1_000_000n + BigInt(micros), true);
      return true;
    }
    if (unit !== 'ns' || seconds < nanoSeconds.from || seconds >= nanoSeconds.to) return false;
    const nanos = fraction * powerOfTen(9 - digits);
    this.#view.setBigInt64(at, BigInt(seconds) * 1_000_000_000n + BigInt(nanos), true);
    return true;
  }

  /** `value` is exact: then `|` takes its lower 32 bits, of negative numbers too. */
  #setInt64(at: number, value: number): void {
    this.#view.setInt32(at, value | 0, true);
    this.#view.setInt32(at + 4, Math.floor(value * wordPart), true);
  }

  /** Makes room for a row. */
  #reserve(): void {
    if (this.#rows < this.#capacity) return;
    this.#capacity *= 4;
    if (this.#validity !== null) {
      const validity = new Uint8Array(this.#capacity >> 3).fill(255);
      validity.set(this.#validity);
      this.#validity = validity;
    }
    if (this.#width > 0) {
      this.#move(this.#rows * this.#width, this.#capacity * this.#width);
      return;
    }
    const offsets = new Int32Array(this.#capacity + 1);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
  }

  #reserveText(used: number, bytes: number): void {
    this.#move(used, bytes);
    this.#textCapacity = bytes;
  }

  #move(used: number, bytes: number): void {
    const old = this.#bytes.subarray(this.#start, this.#start + used);
    const piece = this.#slab.take(bytes);
    piece.bytes.set(old, piece.start);
    this.#bytes = piece.bytes;
    this.#view = piece.view;
    this.#start = piece.start;
  }
}

function isWord(bytes: Uint8Array, from: number, end: number, word: string): boolean {
  if (end - from !== word.length) return false;
  for (let index = 0; index < word.length; index++) {
    if (((bytes[from + index] as number) | 0x20) !== word.charCodeAt(index)) return false;
  }
  return true;
}

function widthOf(type: DataType): number {
  switch (type.kind) {
    case 'int':
    case 'float':
      return type.bits / 8;
    case 'boolean':
      return 1;
    case 'date':
      return 4;
    case 'decimal':
      return 16;
    case 'time':
    case 'timestamp':
      return 8;
    default:
      return 0;
  }
}
