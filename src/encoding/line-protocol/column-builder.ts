import type { Column, DataType, Vector } from '@framehold/columns';
import { asciiLower } from '../../core/text/ascii-lower.ts';

/** Kinds of values. `unset`: a new column, before its first value. `other`: a type that no value of a line has. */
export const columnKind = { unset: 0, other: 1, text: 2, long: 3, double: 4, boolean: 5, micros: 6, nanos: 7 } as const;
export type ColumnKind = (typeof columnKind)[keyof typeof columnKind];

const typeOfKind: Readonly<Record<ColumnKind, DataType>> = {
  [columnKind.unset]: { kind: 'null' },
  [columnKind.other]: { kind: 'null' },
  [columnKind.text]: { kind: 'utf8' },
  [columnKind.long]: { kind: 'int', bits: 64, signed: true },
  [columnKind.double]: { kind: 'float', bits: 64 },
  [columnKind.boolean]: { kind: 'boolean' },
  [columnKind.micros]: { kind: 'timestamp', unit: 'us', zoned: false },
  [columnKind.nanos]: { kind: 'timestamp', unit: 'ns', zoned: false },
};

function kindOf(type: DataType): ColumnKind {
  switch (type.kind) {
    case 'utf8':
      return columnKind.text;
    case 'boolean':
      return columnKind.boolean;
    case 'int':
      return type.bits === 64 && type.signed ? columnKind.long : columnKind.other;
    case 'float':
      return type.bits === 64 ? columnKind.double : columnKind.other;
    case 'timestamp':
      return type.unit === 'us' ? columnKind.micros : type.unit === 'ns' ? columnKind.nanos : columnKind.other;
    default:
      return columnKind.other;
  }
}

const noBytes = new Uint8Array(0);
const noInts = new Int32Array(0);
const noDoubles = new Float64Array(0);
/** Below it a loop is sooner done than a call. */
const shortCopy = 40;
/** A column that has values in the first rows has as many as the body has lines, it seems. */
const firstRows = 64;
const firstCapacity = 16;
const mostFirstBytes = 1 << 20;
/** Columns from this size on are enlarged one by one, before they are full. */
const earlyValues = 1 << 19;
const earlyBytes = 1 << 22;

/** Memory that the columns of a body may still take. */
export interface MemoryBudget {
  /** Throws where there is no more. */
  take(bytes: number): void;
  /** Reports filled bytes. */
  filled(bytes: number): void;
}

/** The values of one column as they are parsed, in Arrow's layout. A skipped row is NULL. */
export class ColumnBuilder {
  readonly name: string;
  /** As the names of columns are compared. */
  readonly key: string;
  kind: ColumnKind;
  type: DataType;
  /** Rows so far: the next one has this number. */
  count = 0;
  #capacity = 0;
  readonly #expectedRows: number;
  readonly #budget: MemoryBudget;
  /** Values of 8 bytes, seen as doubles and as halves of int64, low one first. */
  #doubles = noDoubles;
  #halves = noInts;
  #bits = noBytes;
  #offsets = noInts;
  #bytes: Uint8Array = noBytes;
  #validity: Uint8Array | null = null;

  constructor(name: string, type: DataType | undefined, expectedRows: number, budget: MemoryBudget) {
    this.name = name;
    this.key = asciiLower(name);
    this.kind = type === undefined ? columnKind.unset : kindOf(type);
    this.type = type ?? typeOfKind[columnKind.unset];
    this.#expectedRows = expectedRows;
    this.#budget = budget;
  }

  get column(): Column {
    return { name: this.name, type: this.type };
  }

  /** A new column has the type of its first value. */
  settle(kind: ColumnKind): void {
    this.kind = kind;
    this.type = typeOfKind[kind];
  }

  /** The adders below are called at most once a row, for rows that only go up: `count <= row`. */
  addDouble(row: number, value: number): void {
    if (row >= this.#capacity) this.#grow(row);
    if (row !== this.count) this.#skipTo(row);
    this.#doubles[row] = value;
    this.#added(row);
  }

  addLong(row: number, low: number, high: number): void {
    if (row >= this.#capacity) this.#grow(row);
    if (row !== this.count) this.#skipTo(row);
    this.#halves[2 * row] = low;
    this.#halves[2 * row + 1] = high;
    this.#added(row);
  }

  addBoolean(row: number, value: boolean): void {
    if (row >= this.#capacity) this.#grow(row);
    if (row !== this.count) this.#skipTo(row);
    if (value) this.#bits[row >> 3] = (this.#bits[row >> 3] as number) | (1 << (row & 7));
    this.#added(row);
  }

  /** Copies bytes [from, to). */
  addText(row: number, source: Uint8Array, from: number, to: number): void {
    if (row >= this.#capacity) this.#grow(row);
    if (row !== this.count) this.#skipTo(row);
    let at = this.#offsets[row] as number;
    const end = at + to - from;
    if (end > this.#bytes.length) this.#growBytes(at, end);
    const bytes = this.#bytes;
    this.#offsets[row + 1] = end;
    if (to - from < shortCopy) for (let next = from; next < to; next++) bytes[at++] = source[next] as number;
    else bytes.set(source.subarray(from, to), at);
    this.#added(row);
  }

  /** The column with this many rows. Undefined where it has no value. */
  finish(rows: number): Vector | undefined {
    if (this.count === 0) return undefined;
    if (rows > this.#capacity) this.#grow(rows - 1);
    if (this.count < rows) this.#skipTo(rows);
    const { type, kind } = this;
    const validity = this.#validity === null ? null : this.#validity.subarray(0, (rows + 7) >> 3);
    const parts = { type, length: rows, validity, offsets: null, children: [] };
    if (kind === columnKind.boolean) return { ...parts, data: this.#bits.subarray(0, (rows + 7) >> 3) };
    if (kind !== columnKind.text) return { ...parts, data: new Uint8Array(this.#doubles.buffer, 0, rows * 8) };
    const offsets = this.#offsets.subarray(0, rows + 1);
    return { ...parts, offsets, data: this.#bytes.subarray(0, offsets[rows]) };
  }

  /** Enlarges a large and nearly full column if the rest of the body would not fit at the present rate. True if it did. `done`: the parsed share. */
  growsEarly(done: number): boolean {
    if (isTight(this.count, this.#capacity, done, earlyValues)) {
      this.#grow(this.#capacity);
      return true;
    }
    const used = this.#offsets[this.count] ?? 0;
    if (!isTight(used, this.#bytes.length, done, earlyBytes)) return false;
    this.#growBytes(used, this.#bytes.length + 1);
    return true;
  }

  #added(row: number): void {
    this.count = row + 1;
    const validity = this.#validity;
    if (validity !== null) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }

  /** NULL for the rows up to this one. */
  #skipTo(row: number): void {
    this.#validity ??= this.#allPresent();
    if (this.kind === columnKind.text) {
      this.#budget.filled(4 * (row - this.count));
      this.#offsets.fill(this.#offsets[this.count] as number, this.count + 1, row + 1);
    }
    this.count = row;
  }

  #allPresent(): Uint8Array {
    const validity = new Uint8Array((this.#capacity + 7) >> 3);
    validity.fill(255, 0, this.count >> 3);
    if ((this.count & 7) !== 0) validity[this.count >> 3] = (1 << (this.count & 7)) - 1;
    return validity;
  }

  #grow(row: number): void {
    const expected = this.#capacity === 0 ? Math.min(this.#expectedRows, firstCapacity) : this.#expectedRows;
    const capacity = Math.max(row + 1, row < firstRows ? expected : 0, this.#capacity * 2);
    this.#budget.take(capacity * 8);
    switch (this.kind) {
      case columnKind.text: {
        const offsets = new Int32Array(capacity + 1);
        offsets.set(this.#offsets);
        this.#offsets = offsets;
        break;
      }
      case columnKind.boolean: {
        const bits = new Uint8Array((capacity + 7) >> 3);
        bits.set(this.#bits);
        this.#bits = bits;
        break;
      }
      default: {
        const doubles = new Float64Array(capacity);
        doubles.set(this.#doubles);
        this.#doubles = doubles;
        if (this.kind !== columnKind.double) this.#halves = new Int32Array(doubles.buffer);
      }
    }
    if (this.#validity !== null) {
      const validity = new Uint8Array((capacity + 7) >> 3);
      validity.set(this.#validity);
      this.#validity = validity;
    }
    this.#capacity = capacity;
  }

  #growBytes(used: number, end: number): void {
    const first = Math.min(this.#capacity * (end - used), mostFirstBytes);
    const length = Math.max(end, this.#bytes.length * 2, first, 64);
    this.#budget.take(length);
    const larger = new Uint8Array(length);
    larger.set(this.#bytes.subarray(0, used));
    this.#bytes = larger;
  }
}

function isTight(used: number, capacity: number, done: number, early: number): boolean {
  return capacity >= early && used > 0.75 * capacity && used > capacity * done;
}
