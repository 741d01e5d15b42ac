import type { Vector } from '@framehold/columns';

/** The bytes of an index into a DuckDB enum of that many values. */
export function enumIndexBytes(values: number): 1 | 2 | 4 {
  if (values <= 255) return 1;
  return values <= 65_535 ? 2 : 4;
}

/** Rows of an enum as plain text: its values in `dictionary`, an index for each row. */
export function enumTexts(
  dictionary: Vector,
  indexes: Uint8Array,
  length: number,
  validity: Uint8Array | null,
): { readonly offsets: Int32Array; readonly data: Uint8Array } {
  const { offsets: starts, data: texts } = dictionary;
  if (starts === null || texts === null) throw new TypeError('the values of an enum are not text');
  const width = enumIndexBytes(dictionary.length);
  const view = new DataView(indexes.buffer, indexes.byteOffset, indexes.byteLength);
  const indexOf = (row: number): number => {
    if (width === 1) return view.getUint8(row);
    return width === 2 ? view.getUint16(row * 2, true) : view.getUint32(row * 4, true);
  };
  const isPresent = (row: number): boolean => validity === null || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

  const offsets = new Int32Array(length + 1);
  for (let row = 0; row < length; row++) {
    const index = indexOf(row);
    if (isPresent(row) && index >= dictionary.length) throw new RangeError('an enum has no value of that index');
    const bytes = isPresent(row) ? (starts[index + 1] as number) - (starts[index] as number) : 0;
    offsets[row + 1] = (offsets[row] as number) + bytes;
  }
  const data = new Uint8Array(offsets[length] as number);
  for (let row = 0; row < length; row++) {
    if (!isPresent(row)) continue;
    const index = indexOf(row);
    data.set(texts.subarray(starts[index], starts[index + 1]), offsets[row]);
  }
  return { offsets, data };
}
