import type { Vector } from '../../../../core/batch.ts';
import type { Connection } from '../native/session.ts';
import { hasFloats } from './column-kinds.ts';
import { queryReadable } from './parquet-relation.ts';

/**
 * Whether there are floats that DuckDB takes for equal although their bits differ: 0.0 and -0.0, NaN with other bits. Its
 * dictionaries in Parquet and the constant segments of its tables keep the first of them in the place of all (1.5.6).
 * `relations` have all the floats, perhaps with others. Takes as long as to read those columns.
 */
export async function hasEqualFloats(connection: Connection, relations: readonly string[]): Promise<boolean> {
  const floats = new EqualFloats();
  for (const relation of relations) {
    const selected = await floatsOf(connection, relation);
    if (selected === undefined) continue;
    await using rows = await queryReadable(connection, selected);
    for await (const batch of rows.batches()) {
      for (const vector of batch.vectors) floats.look(vector);
      if (floats.areFound) return true;
    }
  }
  return false;
}

/** The columns of a relation that have floats; undefined where there are none. */
export async function floatsOf(connection: Connection, relation: string): Promise<string | undefined> {
  using statement = await connection.prepare(`SELECT * FROM ${relation}`);
  const floats = statement.columns.flatMap((column, index) => (hasFloats(column) ? `#${index + 1} AS c${index}` : []));
  return floats.length === 0 ? undefined : `(SELECT ${floats.join(', ')} FROM ${relation})`;
}

/** The bits of the first zero and of the first NaN: the upper half of them, then the lower. */
interface FirstBits {
  zero?: readonly [number, number];
  nan?: readonly [number, number];
}

class EqualFloats {
  readonly #first: Readonly<Record<32 | 64, FirstBits>> = { 32: {}, 64: {} };
  #areFound = false;

  get areFound(): boolean {
    return this.#areFound;
  }

  /** Also at what lies under a NULL: to find too many costs only bytes. */
  look({ type, length, data, children }: Vector): void {
    if (type.kind === 'float' && data !== null)
      this.#areFound ||= hasOthers(this.#first[type.bits], data.subarray(0, (length * type.bits) / 8), type.bits);
    for (const child of children) this.look(child);
  }
}

function hasOthers(first: FirstBits, bytes: Uint8Array, bits: 32 | 64): boolean {
  const width = bits / 8;
  const { buffer, byteOffset, length } = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  const count = length / width;
  const values =
    bits === 64 ? new Float64Array(buffer, byteOffset, count) : new Float32Array(buffer, byteOffset, count);
  const words = new Uint32Array(buffer, byteOffset, length / 4);
  for (let at = 0; at < count; at++) {
    const value = values[at] as number;
    // Nearly all are neither zero nor NaN.
    if (value !== 0 && !Number.isNaN(value)) continue;
    const upper = words[bits === 64 ? 2 * at + 1 : at] as number;
    const lower = bits === 64 ? (words[2 * at] as number) : 0;
    const kind = value === 0 ? 'zero' : 'nan';
    const [firstUpper, firstLower] = first[kind] ?? [upper, lower];
    if (first[kind] === undefined) first[kind] = [upper, lower];
    if (upper !== firstUpper || lower !== firstLower) return true;
  }
  return false;
}
