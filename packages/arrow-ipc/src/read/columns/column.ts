import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import type { ReceivedField } from '../format/schema.ts';

/** Values of a field in Arrow's layout; its buffers are inside the message's body, which is checked. */
export interface ArrowColumn {
  readonly field: ReceivedField;
  readonly length: number;
  readonly validity: Uint8Array | null;
  /** Values, bytes of strings, views, type ids, or indices into the dictionary. */
  readonly data: Uint8Array;
  /** For strings and lists, one more than values; for a dense union, one a value. */
  readonly offsets: Int32Array;
  /** The buffers of the views. */
  readonly viewed: readonly Uint8Array[];
  readonly children: readonly ArrowColumn[];
  readonly dictionary: ArrowColumn | undefined;
  /** For a slice: the message's row of its first row. */
  readonly firstRow?: number;
}

export const noBytes = new Uint8Array(0);
export const noOffsets = new Int32Array(1);

export function emptyColumn(field: ReceivedField): ArrowColumn {
  return {
    field,
    length: 0,
    validity: null,
    data: noBytes,
    offsets: noOffsets,
    viewed: [],
    children: field.children.map(emptyColumn),
    dictionary: field.dictionary && emptyColumn({ ...field, dictionary: undefined }),
  };
}

export function outOfRange({ field, firstRow = 0 }: ArrowColumn, row: number): InvalidArrow {
  return new InvalidArrow(`${field.label} has a value out of its type's range at row ${firstRow + row}`);
}

export function int32View(bytes: Uint8Array, length: number): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, length);
}
