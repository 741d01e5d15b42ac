import { valueBytes } from '../../types/arrow-type.ts';
import { type BatchBody, unpackedBody } from '../format/compression.ts';
import { type FlatbufferTable, InvalidArrow } from '../format/flatbuffer-reader.ts';
import type { ArrowMessage } from '../format/messages.ts';
import type { ReceivedField } from '../format/schema.ts';
import { UnfoldBudget } from '../format/unfold-budget.ts';
import { checkColumn } from './check.ts';
import { type ArrowColumn, emptyColumn, int32View, noBytes, noOffsets } from './column.ts';

export type Dictionaries = ReadonlyMap<number, ArrowColumn>;

const maxRows = 2 ** 31 - 1;

/** The columns of a record batch (or the one of a dictionary), fit to be handed to native code. */
export function readBatch(
  header: FlatbufferTable,
  { body, isV4 }: Pick<ArrowMessage, 'body' | 'isV4'>,
  fields: readonly ReceivedField[],
  dictionaries: Dictionaries,
  budget = new UnfoldBudget(),
): { rows: number; columns: ArrowColumn[] } {
  const rows = header.int64(0);
  const compression = header.table(3);
  const asSent = { body, buffers: header.int64Pairs(2) };
  const unpacked = compression === undefined ? asSent : unpackedBody(compression, asSent, budget);
  const reader = new BatchReader(header, unpacked, { isV4, dictionaries, budget });
  const columns = fields.map((field) => reader.column(field));
  for (const column of columns) {
    if (column.length !== rows) {
      throw new InvalidArrow(`${column.field.label} has ${column.length} rows in a batch of ${rows}`);
    }
  }
  reader.finish();
  return { rows, columns };
}

/** Takes nodes and buffers in the order in which the format lists them. */
class BatchReader {
  readonly #nodes: [number, number][];
  readonly #buffers: [number, number][];
  readonly #viewedCounts: number[];
  readonly #body: Uint8Array;
  readonly #isV4: boolean;
  readonly #dictionaries: Dictionaries;
  readonly #budget: UnfoldBudget;

  constructor(
    header: FlatbufferTable,
    { body, buffers }: BatchBody,
    { isV4, dictionaries, budget }: { isV4: boolean; dictionaries: Dictionaries; budget: UnfoldBudget },
  ) {
    this.#nodes = header.int64Pairs(1).reverse();
    this.#buffers = buffers.toReversed();
    this.#viewedCounts = header.int64s(4).reverse();
    this.#body = body;
    this.#isV4 = isV4;
    this.#dictionaries = dictionaries;
    this.#budget = budget;
  }

  column(field: ReceivedField): ArrowColumn {
    const node = this.#nodes.pop();
    if (node === undefined) throw new InvalidArrow(`${field.label} has no field node`);
    const [length, nullCount] = node;
    if (length < 0 || length > maxRows || nullCount < 0 || nullCount > length) {
      throw new InvalidArrow(`${field.label} claims ${length} values with ${nullCount} nulls`);
    }
    const column = this.#layout(field, length, nullCount);
    checkColumn(column, this.#budget);
    return column;
  }

  finish(): void {
    if (this.#nodes.length > 0) throw new InvalidArrow(`it has ${this.#nodes.length} field nodes too many`);
    if (this.#buffers.length > 0) throw new InvalidArrow(`it has ${this.#buffers.length} buffers too many`);
  }

  #layout(field: ReceivedField, length: number, nullCount: number): ArrowColumn {
    const { type } = field;
    const base = {
      field,
      length,
      validity: null,
      data: noBytes,
      offsets: noOffsets,
      viewed: [],
      children: [],
      dictionary: undefined,
    };
    if (field.dictionary !== undefined) {
      const validity = this.#validity(field, length, nullCount);
      const data = this.#buffer(field, length * (field.dictionary.index.bits / 8));
      // A column of nulls alone may lack its dictionary.
      const dictionary =
        this.#dictionaries.get(field.dictionary.id) ?? emptyColumn({ ...field, dictionary: undefined });
      return { ...base, validity, data, dictionary };
    }
    if (type.kind === 'null') return base;
    if (type.kind === 'union') {
      if (this.#isV4 && this.#validity(field, length, nullCount) !== null) {
        throw new InvalidArrow(`${field.label} is a union with nulls of its own`);
      }
      const data = this.#buffer(field, length);
      const offsets = type.dense ? int32View(this.#buffer(field, length * 4), length) : noOffsets;
      return { ...base, data, offsets, children: this.#children(field) };
    }
    const validity = this.#validity(field, length, nullCount);
    switch (type.kind) {
      case 'bytes': {
        const offsets = this.#offsets(field, length, type.large);
        return { ...base, validity, offsets, data: this.#buffer(field, 0) };
      }
      case 'view': {
        const data = this.#buffer(field, length * 16);
        const count = this.#viewedCounts.pop() ?? 0;
        if (count < 0 || count > this.#buffers.length) throw new InvalidArrow(`${field.label} misses data buffers`);
        return { ...base, validity, data, viewed: Array.from({ length: count }, () => this.#buffer(field, 0)) };
      }
      case 'list':
      case 'map': {
        const offsets = this.#offsets(field, length, type.kind === 'list' && type.large);
        return { ...base, validity, offsets, children: this.#children(field) };
      }
      case 'struct':
      case 'fixedList':
        return { ...base, validity, children: this.#children(field) };
      case 'bool':
        return { ...base, validity, data: this.#buffer(field, Math.ceil(length / 8)) };
      default:
        return { ...base, validity, data: this.#buffer(field, length * valueBytes(type)) };
    }
  }

  #children(field: ReceivedField): ArrowColumn[] {
    return field.children.map((child) => this.column(child));
  }

  #validity(field: ReceivedField, length: number, nullCount: number): Uint8Array | null {
    const bits = this.#buffer(field, 0);
    if (nullCount === 0) return null;
    if (bits.length < Math.ceil(length / 8)) throw new InvalidArrow(`${field.label} has nulls but no bitmap for them`);
    return bits;
  }

  #offsets(field: ReceivedField, length: number, large: boolean): Int32Array {
    const bytes = this.#buffer(field, 0);
    if (length === 0 && bytes.length === 0) return noOffsets;
    if (bytes.length < (length + 1) * (large ? 8 : 4)) throw tooShort(field);
    if (!large) return int32View(bytes, length + 1);
    const halves = int32View(bytes, (length + 1) * 2);
    const offsets = new Int32Array(length + 1);
    for (let row = 0; row <= length; row++) {
      // A body is under 2 GiB, so that an offset with anything in its upper half is past its end.
      if (halves[row * 2 + 1] !== 0) throw new InvalidArrow(`${field.label} has offsets outside its data`);
      offsets[row] = halves[row * 2] as number;
    }
    return offsets;
  }

  #buffer(field: ReceivedField, minBytes: number): Uint8Array {
    const place = this.#buffers.pop();
    if (place === undefined) throw new InvalidArrow(`${field.label} misses a buffer`);
    const [offset, bytes] = place;
    if (bytes < minBytes) throw tooShort(field);
    if (bytes === 0) return noBytes;
    if (offset < 0 || offset + bytes > this.#body.length) {
      throw new InvalidArrow(`${field.label} has a buffer outside the message's body`);
    }
    if (offset % 8 !== 0) throw new InvalidArrow(`${field.label} has a buffer that is not aligned to 8 bytes`);
    return this.#body.subarray(offset, offset + bytes);
  }
}

function tooShort(field: ReceivedField): InvalidArrow {
  return new InvalidArrow(`${field.label} has a buffer too short for its values`);
}
