import type { Vector } from '@framehold/columns';
import type { Connection, StatementColumn } from '@framehold/duckdb';
import { hasFloats, isInterval } from './column-kinds.ts';
import { queryReadable } from './parquet-relation.ts';

/**
 * Whether there are values that DuckDB takes for equal although they differ: 0.0 and -0.0, NaN with other bits, 24 hours and a day.
 * Its dictionaries in Parquet and the constant segments of its tables keep the first of them in the place of all (1.5.6).
 * `relations` have all the values, perhaps with others. Takes as long as to read those columns.
 */
export async function hasEqualValues(connection: Connection, relations: readonly string[]): Promise<boolean> {
  const floats = new EqualFloats();
  for (const relation of relations) {
    if (await hasEqualIntervals(connection, relation)) return true;
    const selected = await columnsWith(connection, relation, hasFloats);
    if (selected === undefined) continue;
    await using rows = await queryReadable(connection, selected);
    for await (const batch of rows.batches()) {
      for (const vector of batch.vectors) floats.look(vector);
      if (floats.areFound) return true;
    }
  }
  return false;
}

/** The columns of a relation that may have such values; undefined where there are none. */
export function columnsWithEqualValues(connection: Connection, relation: string): Promise<string | undefined> {
  return columnsWith(connection, relation, (column) => hasFloats(column) || isInterval(column));
}

async function columnsWith(
  connection: Connection,
  relation: string,
  isWanted: (column: StatementColumn) => boolean,
): Promise<string | undefined> {
  using statement = await connection.prepare(`SELECT * FROM ${relation}`);
  const wanted = statement.columns.flatMap((column, index) => (isWanted(column) ? `#${index + 1} AS c${index}` : []));
  return wanted.length === 0 ? undefined : `(SELECT ${wanted.join(', ')} FROM ${relation})`;
}

/** Frames keep none inside other types. */
async function hasEqualIntervals(connection: Connection, relation: string): Promise<boolean> {
  const intervals = await columnsWith(connection, relation, isInterval);
  if (intervals === undefined) return false;
  const [counts] = await connection.rows<Record<string, boolean>>(
    `SELECT count(DISTINCT COLUMNS(*)) <> count(DISTINCT CAST(COLUMNS(*) AS VARCHAR)) FROM ${intervals}`,
  );
  return Object.values(counts ?? {}).some(Boolean);
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

export function floatValues(bytes: Uint8Array, bits: 32 | 64): Float32Array | Float64Array {
  const width = bits / 8;
  const { buffer, byteOffset, length } = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  const count = length / width;
  return bits === 64 ? new Float64Array(buffer, byteOffset, count) : new Float32Array(buffer, byteOffset, count);
}

function hasOthers(first: FirstBits, bytes: Uint8Array, bits: 32 | 64): boolean {
  const values = floatValues(bytes, bits);
  const words = new Uint32Array(values.buffer, values.byteOffset, values.byteLength / 4);
  for (let at = 0; at < values.length; at++) {
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
