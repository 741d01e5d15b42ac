import { bitAt } from '../../../../encoding/arrow/read/columns/bits.ts';
import { int32View } from '../../../../encoding/arrow/read/columns/column.ts';
import { type Address, addressOf } from '../native/vector-api.ts';
import { rowAt } from './rows.ts';
import type { StoreTask } from './scratch.ts';

/** DuckDB's string: 4 bytes of length, then up to 12 bytes of text (zeros behind), or 4 bytes of it and a pointer. */
const stringBytes = 16;
const inlineBytes = 12;

/** Strings that point into the message's body: it must stay until the chunk has been appended. */
export function pointStrings({ column, rows, present, scratch, target }: StoreTask): void {
  const { words, bytes } = scratch.prepare(rows.count * stringBytes);
  const { data, offsets, field } = column;
  const width = field.type.kind === 'fixedBytes' ? field.type.width : -1;
  const base = addressOf(data);
  for (let index = 0; index < rows.count; index++) {
    const row = present === null || bitAt(present, index) ? rowAt(rows, index) : -1;
    if (row < 0) {
      words.fill(0, index * 4, index * 4 + 4);
      continue;
    }
    const from = width < 0 ? (offsets[row] as number) : row * width;
    const length = width < 0 ? (offsets[row + 1] as number) - from : width;
    putString(words, bytes, index, data, from, length, base);
  }
  scratch.copyTo(target, rows.count * stringBytes);
}

export function pointViews({ column, rows, present, scratch, target }: StoreTask): void {
  const { words, bytes } = scratch.prepare(rows.count * stringBytes);
  const { data, viewed } = column;
  const views = int32View(data, column.length * 4);
  const bases = viewed.map(addressOf);
  for (let index = 0; index < rows.count; index++) {
    const row = present === null || bitAt(present, index) ? rowAt(rows, index) : -1;
    if (row < 0) {
      words.fill(0, index * 4, index * 4 + 4);
      continue;
    }
    const length = views[row * 4] as number;
    if (length <= inlineBytes) putString(words, bytes, index, data, row * stringBytes + 4, length, 0);
    else {
      const source = views[row * 4 + 2] as number;
      const from = views[row * 4 + 3] as number;
      putString(words, bytes, index, viewed[source] as Uint8Array, from, length, bases[source] as Address);
    }
  }
  scratch.copyTo(target, rows.count * stringBytes);
}

function putString(
  words: Int32Array,
  bytes: Uint8Array,
  index: number,
  data: Uint8Array,
  from: number,
  length: number,
  base: Address,
): void {
  const word = index * 4;
  words[word] = length;
  words[word + 1] = 0;
  const at = word * 4 + 4;
  if (length <= inlineBytes) {
    words[word + 2] = 0;
    words[word + 3] = 0;
    for (let n = 0; n < length; n++) bytes[at + n] = data[from + n] as number;
    return;
  }
  for (let n = 0; n < 4; n++) bytes[at + n] = data[from + n] as number;
  const address = base + from;
  words[word + 2] = address | 0;
  words[word + 3] = Math.floor(address / 2 ** 32);
}
