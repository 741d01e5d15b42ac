import { allBits, bitAt, clearBit, repeatBits } from '../../../../encoding/arrow/read/columns/bits.ts';
import type { ArrowColumn } from '../../../../encoding/arrow/read/columns/column.ts';
import { indexAt } from '../../../../encoding/arrow/read/columns/dictionary.ts';
import { isNull } from '../../../../encoding/arrow/read/columns/null.ts';
import { type ArrowType, isUuid } from '../../../../encoding/arrow/read/format/schema.ts';
import { copyMemory } from '../native/c-api.ts';
import { type Address, addressOf, vectorApi } from '../native/vector-api.ts';
import { storeDates, storeDurations, storeIntervals, storeTimes, storeTimestamps } from './calendar.ts';
import { storeDecimals } from './decimals.ts';
import { vectorBytes } from './duckdb-type-name.ts';
import { presentRows, type Rows, rowAt } from './rows.ts';
import { Scratch } from './scratch.ts';
import { pointStrings, pointViews } from './strings.ts';
import { copyValues, reverseUuids, spreadBits, widenHalves } from './values.ts';

/** A type whose values stand in the vector itself. */
type FlatType = Exclude<ArrowType, { kind: 'null' | 'struct' | 'list' | 'map' | 'fixedList' | 'union' }>;

/** The elements of the lists in a slice need more memory than a slice may have. */
export class SliceTooLarge extends Error {}

/** Writes rows of checked Arrow columns into DuckDB's vectors. Long strings are not copied: they point at the Arrow data. */
export class VectorFiller {
  /** What the elements of a vector of lists may take. */
  maxListBytes = Number.POSITIVE_INFINITY;
  readonly #scratch = new Scratch();

  fill(vector: Address, column: ArrowColumn, rows: Rows, parent: Uint8Array | null = null): void {
    const present = presentRows(column, rows, parent);
    if (column.dictionary !== undefined) {
      this.fill(vector, column.dictionary, { start: 0, count: rows.count, at: decode(column, rows, present) });
      return;
    }
    const { type } = column.field;
    if (type.kind === 'null') {
      setValidity(vector, new Uint8Array((rows.count + 7) >> 3), rows.count);
      return;
    }
    if (present !== null) setValidity(vector, present, rows.count);
    switch (type.kind) {
      case 'struct':
        column.children.forEach((child, index) => {
          this.fill(vectorApi.structChild(vector, index), child, rows, present);
        });
        return;
      case 'list':
      case 'map':
        this.#fillList(vector, column, rows, present);
        return;
      case 'fixedList':
        this.#fillArray(vector, column, rows, present, type.size);
        return;
      case 'union':
        this.#fillUnion(vector, column, rows, present, type);
        return;
      default:
        this.#store(vector, column, rows, present, type);
    }
  }

  #store(vector: Address, column: ArrowColumn, rows: Rows, present: Uint8Array | null, type: FlatType): void {
    const task = { column, rows, present, scratch: this.#scratch, target: vectorApi.data(vector) };
    switch (type.kind) {
      case 'bool':
        spreadBits(task);
        break;
      case 'int':
        copyValues(task);
        break;
      case 'float':
        if (type.bits === 16) widenHalves(task);
        else copyValues(task);
        break;
      case 'decimal':
        storeDecimals(task);
        break;
      case 'bytes':
        pointStrings(task);
        break;
      case 'fixedBytes':
        if (isUuid(column.field)) reverseUuids(task);
        else pointStrings(task);
        break;
      case 'view':
        pointViews(task);
        break;
      case 'date':
        storeDates(task, type.unit);
        break;
      case 'time':
        storeTimes(task, type.unit);
        break;
      case 'timestamp':
        storeTimestamps(task, type.unit, type.zoned);
        break;
      case 'duration':
        storeDurations(task, type.unit);
        break;
      case 'interval':
        storeIntervals(task, type.unit);
        break;
      default:
        (type) satisfies never;
    }
  }

  /** DuckDB's list entry: u64 offset among the elements, u64 length. */
  #fillList(vector: Address, { offsets, children }: ArrowColumn, rows: Rows, present: Uint8Array | null): void {
    const child = children[0] as ArrowColumn;
    const { words } = this.#scratch.prepare(rows.count * 16);
    let elements = 0;
    for (let index = 0; index < rows.count; index++) {
      const row = rowAt(rows, index);
      const length = row < 0 ? 0 : (offsets[row + 1] as number) - (offsets[row] as number);
      words[index * 4] = elements;
      words[index * 4 + 1] = 0;
      words[index * 4 + 2] = present === null || bitAt(present, index) ? length : 0;
      words[index * 4 + 3] = 0;
      elements += length;
    }
    this.#scratch.copyTo(vectorApi.data(vector), rows.count * 16);
    if (elements * vectorBytes(child.field) > this.maxListBytes) throw new SliceTooLarge();
    if (vectorApi.reserveList(vector, elements) !== 0 || vectorApi.setListSize(vector, elements) !== 0) {
      throw new Error('DuckDB does not make room for the elements of a list');
    }
    this.fill(vectorApi.listChild(vector), child, elementRows(offsets, rows, elements));
  }

  #fillArray(vector: Address, { children }: ArrowColumn, rows: Rows, present: Uint8Array | null, size: number): void {
    const count = rows.count * size;
    const bits = present === null ? null : repeatBits(present, rows.count, size);
    let at: Int32Array | null = null;
    if (rows.at !== null) {
      at = new Int32Array(count);
      for (let index = 0; index < count; index++) {
        const row = rows.at[Math.floor(index / size)] as number;
        at[index] = row < 0 ? -1 : row * size + (index % size);
      }
    }
    this.fill(vectorApi.arrayChild(vector), children[0] as ArrowColumn, { start: rows.start * size, count, at }, bits);
  }

  /** DuckDB's union is a struct of the member's number and of every member, null but for the one that is meant. */
  #fillUnion(
    vector: Address,
    { data, offsets, children }: ArrowColumn,
    rows: Rows,
    present: Uint8Array | null,
    { dense, typeIds }: { dense: boolean; typeIds: readonly number[] },
  ): void {
    const tags = vectorApi.structChild(vector, 0);
    const picked = children.map(() => new Int32Array(rows.count).fill(-1));
    const { bytes } = this.#scratch.prepare(rows.count);
    const valid = allBits(rows.count);
    for (let index = 0; index < rows.count; index++) {
      const row = present === null || bitAt(present, index) ? rowAt(rows, index) : -1;
      const member = row < 0 ? 0 : typeIds.indexOf(data[row] as number);
      const at = dense && row >= 0 ? (offsets[row] as number) : row;
      bytes[index] = member;
      // A union has no nulls of its own in Arrow: a row is null where its member is.
      if (row < 0 || isNull(children[member] as ArrowColumn, at)) clearBit(valid, index);
      else (picked[member] as Int32Array)[index] = at;
    }
    setValidity(vector, valid, rows.count);
    setValidity(tags, valid, rows.count);
    this.#scratch.copyTo(vectorApi.data(tags), rows.count);
    children.forEach((child, member) => {
      const at = picked[member] as Int32Array;
      this.fill(vectorApi.structChild(vector, member + 1), child, { start: 0, count: rows.count, at });
    });
  }
}

function setValidity(vector: Address, bits: Uint8Array, count: number): void {
  vectorApi.makeValidity(vector);
  copyMemory(vectorApi.validity(vector), addressOf(bits), (count + 7) >> 3);
}

function decode(column: ArrowColumn, rows: Rows, present: Uint8Array | null): Int32Array {
  const at = new Int32Array(rows.count);
  for (let index = 0; index < rows.count; index++) {
    at[index] = present === null || bitAt(present, index) ? indexAt(column, rowAt(rows, index)) : -1;
  }
  return at;
}

function elementRows(offsets: Int32Array, rows: Rows, count: number): Rows {
  if (rows.at === null) return { start: offsets[rows.start] as number, count, at: null };
  const at = new Int32Array(count);
  let filled = 0;
  for (const row of rows.at) {
    if (row < 0) continue;
    for (let element = offsets[row] as number; element < (offsets[row + 1] as number); element++)
      at[filled++] = element;
  }
  return { start: 0, count, at };
}
