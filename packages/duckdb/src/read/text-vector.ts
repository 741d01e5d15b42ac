import type { NativeSlab } from './native-slab.ts';

/** DuckDB's entry for a text: u32 length, then up to 12 bytes of it, or 4 bytes and a pointer. */
const entryBytes = 16;
const entryWords = entryBytes / 4;
const inlineAt = 4;
const mostInline = 12;
/** Below this, words one by one are quicker than a call that copies. */
const leastSet = 64;

export interface Texts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/**
 * The texts of a vector. Long ones are one behind the other in a few blocks of DuckDB, in the order of the rows, so that one copy
 * reads hundreds of them.
 */
export function readTexts(address: number, length: number, validity: Uint8Array | null, slab: NativeSlab): Texts {
  const entries = slab.int32s(address, length * entryWords);
  const offsets = slab.int32Room(length + 1);
  const longBytes = measure(entries, length, validity, offsets);
  const bytes = offsets[length] as number;
  if (longBytes === 0) return { offsets, data: withInline(entries, offsets, undefined, slab) };
  const long = copyLong(entries, offsets, longBytes, slab);
  return { offsets, data: longBytes === bytes ? long : withInline(entries, offsets, long, slab) };
}

/** Computes the end of each text; returns the bytes of the long ones. */
function measure(entries: Int32Array, length: number, validity: Uint8Array | null, offsets: Int32Array): number {
  let longBytes = 0;
  let end = 0;
  offsets[0] = 0;
  for (let row = 0; row < length; row++) {
    const isPresent = validity === null || (((validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
    const bytes = isPresent ? (entries[row * entryWords] as number) >>> 0 : 0;
    if (bytes > mostInline) longBytes += bytes;
    end += bytes;
    offsets[row + 1] = end;
  }
  if (end > 0x7fffffff) throw new RangeError('more than 2 GiB of one column in a chunk');
  return longBytes;
}

function copyLong(entries: Int32Array, offsets: Int32Array, longBytes: number, slab: NativeSlab): Uint8Array {
  const long = slab.room(longBytes);
  let filled = 0;
  let runStart = 0;
  let runEnd = 0;
  for (let row = 0, from = 0; row < offsets.length - 1; row++) {
    const to = offsets[row + 1] as number;
    const bytes = to - from;
    from = to;
    if (bytes <= mostInline) continue;
    const low = (entries[row * entryWords + 2] as number) >>> 0;
    const start = low + (entries[row * entryWords + 3] as number) * 2 ** 32;
    if (start !== runEnd) {
      slab.fill(long, filled, runStart, runEnd - runStart);
      filled += runEnd - runStart;
      runStart = start;
    }
    runEnd = start + bytes;
  }
  slab.fill(long, filled, runStart, runEnd - runStart);
  return long;
}

/** All texts: short ones from their entries, long ones in sequence. */
function withInline(
  entries: Int32Array,
  offsets: Int32Array,
  long: Uint8Array | undefined,
  slab: NativeSlab,
): Uint8Array {
  const rows = offsets.length - 1;
  const bytes = offsets[rows] as number;
  // A short text is written as three words; the next text overwrites the surplus.
  const out = slab.room(bytes + mostInline);
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  let longAt = 0;
  // Long texts that were not copied yet, and where they belong.
  let waiting = 0;
  let waitingAt = 0;
  for (let row = 0, from = 0; row < rows; row++) {
    const to = offsets[row + 1] as number;
    const count = to - from;
    if (count > mostInline) {
      if (waiting === 0) waitingAt = from;
      waiting += count;
    } else if (count > 0) {
      if (waiting > 0 && long !== undefined) {
        copy(long, longAt, out, view, waitingAt, waiting);
        longAt += waiting;
        waiting = 0;
      }
      const word = row * entryWords + inlineAt / 4;
      view.setInt32(from, entries[word] as number, true);
      if (count > 4) {
        view.setInt32(from + 4, entries[word + 1] as number, true);
        if (count > 8) view.setInt32(from + 8, entries[word + 2] as number, true);
      }
    }
    from = to;
  }
  if (waiting > 0 && long !== undefined) copy(long, longAt, out, view, waitingAt, waiting);
  return out.subarray(0, bytes);
}

function copy(long: Uint8Array, at: number, out: Uint8Array, view: DataView, to: number, count: number): void {
  if (count >= leastSet) out.set(long.subarray(at, at + count), to);
  else for (let n = 0; n < count; n++) view.setUint8(to + n, long[at + n] as number);
}
