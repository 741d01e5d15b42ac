import { CodedError, childTypes, copyBytes, type DataType, type Vector } from '@framehold/columns';
import { isPresent } from '../columns/bits.ts';
import { type ArrowColumn, int32View, noBytes } from '../columns/column.ts';
import { indexAt } from '../columns/dictionary.ts';
import { maxBodyBytes } from '../format/messages.ts';
import { isUuid } from '../format/schema.ts';
import { dates, durations, intervals, times, timestamps, wideDecimals, widenedHalves } from './converted-values.ts';
import { gatherVector } from './gathered-vector.ts';

/** A checked column as a vector of `type`, which is that of `toColumn`: its own bytes where they are laid out as ours. */
export function toVector(column: ArrowColumn, type: DataType): Vector {
  const { length, validity, dictionary, field } = column;
  if (dictionary !== undefined) return gatherVector(sharedVector(dictionary, type), indices(column));
  const sent = field.type;
  const plain = (data: Uint8Array): Vector => ({ type, length, validity, offsets: null, data, children: [] });
  const bytes = (offsets: Int32Array, data: Uint8Array): Vector => ({ ...plain(data), offsets });
  const nested = (children: readonly Vector[], offsets: Int32Array | null = null): Vector => {
    return { type, length, validity, offsets, data: null, children };
  };
  switch (sent.kind) {
    case 'null':
      return {
        ...plain(type.kind === 'null' ? noBytes : nullData(length)),
        validity: new Uint8Array((length + 7) >> 3),
      };
    case 'bool':
    case 'int':
      return plain(column.data);
    case 'float':
      return plain(sent.bits === 16 ? widenedHalves(column) : column.data);
    case 'decimal':
      return plain(wideDecimals(column, sent));
    case 'bytes':
      return bytes(column.offsets, column.data);
    case 'view': {
      const { offsets, data } = viewedBytes(column);
      return bytes(offsets, data);
    }
    case 'fixedBytes':
      if (isUuid(field)) return bytes(evenOffsets(length, uuidText), uuidTexts(column));
      return bytes(evenOffsets(length, sent.width), column.data);
    case 'date':
      return plain(dates(column, sent.unit));
    case 'time':
      return plain(times(column, sent.unit));
    case 'timestamp':
      return plain(timestamps(column, sent.unit, sent.zoned));
    case 'duration':
      return plain(durations(column, sent.unit));
    case 'interval':
      return plain(intervals(column, sent.unit));
    case 'list':
    case 'map':
      return nested(childrenOf(column, type), column.offsets);
    case 'fixedList':
    case 'struct':
      return nested(childrenOf(column, type));
    case 'union':
      return unionVector(column, type, sent);
    default:
      return sent satisfies never;
  }
}

/** One dictionary serves many batches, and a member of a dense union all slices of its batch. */
const sharedVectors = new WeakMap<ArrowColumn, Vector>();

function sharedVector(column: ArrowColumn, type: DataType): Vector {
  const known = sharedVectors.get(column);
  if (known !== undefined) return { ...known, type };
  const vector = toVector(column, type);
  sharedVectors.set(column, vector);
  return vector;
}

/** A column of nulls has no bytes, even if its claimed length is large. */
function nullData(length: number): Uint8Array {
  if (length * 4 > maxBodyBytes) throw new CodedError('too_large', `a record batch holds ${length} nulls`);
  return new Uint8Array(length * 4);
}

function childrenOf({ children }: ArrowColumn, type: DataType, vectorOf = toVector): Vector[] {
  const types = childTypes(type);
  return children.map((child, index) => vectorOf(child, types[index] as DataType));
}

/** Which row of its dictionary each row is. */
function indices(column: ArrowColumn): Int32Array {
  const { length, validity } = column;
  const at = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    at[row] = isPresent(validity, row) ? indexAt(column, row) : -1;
  }
  return at;
}

/** Ours are sparse: every member has a value, or a null, for every row. */
function unionVector(
  column: ArrowColumn,
  type: DataType,
  { dense, typeIds }: { readonly dense: boolean; readonly typeIds: readonly number[] },
): Vector {
  const { length, data, offsets } = column;
  const members = new Uint8Array(length);
  for (let row = 0; row < length; row++) members[row] = typeIds.indexOf(data[row] as number);
  const children = dense
    ? childrenOf(column, type, sharedVector).map((child, member) => {
        return gatherVector(
          child,
          offsets.map((at, row) => (members[row] === member ? at : -1)),
        );
      })
    : childrenOf(column, type);
  return { type, length, validity: null, offsets: null, data: members, children };
}

function evenOffsets(length: number, width: number): Int32Array {
  const offsets = new Int32Array(length + 1);
  for (let row = 0; row <= length; row++) offsets[row] = row * width;
  return offsets;
}

const uuidText = 36;
const hex = Buffer.from('0123456789abcdef');
const dash = 45;
const dashesBefore: ReadonlySet<number> = new Set([4, 6, 8, 10]);

function uuidTexts({ data, length }: ArrowColumn): Uint8Array {
  const out = new Uint8Array(length * uuidText);
  let at = 0;
  for (let row = 0; row < length; row++) {
    for (let n = 0; n < 16; n++) {
      if (dashesBefore.has(n)) out[at++] = dash;
      const byte = data[row * 16 + n] as number;
      out[at++] = hex[byte >> 4] as number;
      out[at++] = hex[byte & 15] as number;
    }
  }
  return out;
}

const inlineBytes = 12;

function viewedBytes({ length, validity, data, viewed }: ArrowColumn): { offsets: Int32Array; data: Uint8Array } {
  const words = int32View(data, length * 4);
  const offsets = new Int32Array(length + 1);
  let total = 0;
  for (let row = 0; row < length; row++) {
    if (isPresent(validity, row)) total += words[row * 4] as number;
    // Many views may show the same bytes.
    if (total > maxBodyBytes) throw new CodedError('too_large', 'a record batch shows more text than can be held');
    offsets[row + 1] = total;
  }
  const out = new Uint8Array(total);
  for (let row = 0; row < length; row++) {
    const bytes = (offsets[row + 1] as number) - (offsets[row] as number);
    if (bytes === 0) continue;
    const isInline = bytes <= inlineBytes;
    const source = isInline ? data : (viewed[words[row * 4 + 2] as number] as Uint8Array);
    const from = isInline ? row * 16 + 4 : (words[row * 4 + 3] as number);
    copyBytes(source, from, out, offsets[row] as number, bytes);
  }
  return { offsets, data: out };
}
