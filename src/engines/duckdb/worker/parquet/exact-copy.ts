import { sqlString } from '@framehold/columns';
import type { Connection, StatementColumn } from '@framehold/duckdb';
import type { Compression } from '../../../../core/rows/frame-engine.ts';
import { hasBytes, hasFloats, isInterval } from './column-kinds.ts';
import { columnsWithEqualValues, hasEqualValues } from './equal-values.ts';
import { parquetRelation } from './parquet-relation.ts';
import { haveSameValues } from './value-digest.ts';

export interface ExactCopy {
  /** What is written. */
  readonly select: string;
  readonly columns: readonly StatementColumn[];
  /** Relations that have all its values and are sooner read. */
  readonly sources: readonly string[];
  readonly path: string;
  readonly compression: Compression;
  /** Of COPY. */
  readonly options: readonly string[];
}

/**
 * The most values of a dictionary: 256 leave most columns of symbols theirs, and most columns of floats none. DuckDB has no option by
 * column, and writing twice takes less time than plain texts take their readers.
 */
const dictionarySizes = [256, 0];
/** Of plain values, level 19 of zstd takes nine times the CPU time of level 12, for a tenth fewer bytes. */
const highestLevel = 12;

/**
 * COPY to Parquet with options without which DuckDB 1.5.6 loses bits of floats (duckdb#25781) and parts of intervals, and misses rows of
 * the file that it writes: its reader asks bloom filters of floats and bytes wrongly (duckdb#23829, #24994, #23944).
 */
export async function copyExactly(
  connection: Connection,
  { select, columns, sources, path, compression: { algorithm, level }, options }: ExactCopy,
  signal: AbortSignal,
): Promise<void> {
  const floats = columns.some(hasFloats);
  const mayMerge = floats || columns.some(isInterval);
  const copy = async (atLevel: number | undefined, ...others: readonly string[]): Promise<void> => {
    const all = [
      'FORMAT parquet',
      `COMPRESSION ${algorithm}`,
      ...(atLevel === undefined ? [] : [`COMPRESSION_LEVEL ${atLevel}`]),
      ...(floats || columns.some(hasBytes) ? ['WRITE_BLOOM_FILTER false'] : []),
      ...options,
      ...others,
    ];
    await connection.run(`COPY (${select}) TO ${sqlString(path)} (${all.join(', ')})`);
  };
  if (!mayMerge || !(await hasEqualValues(connection, sources))) return await copy(level);
  for (const size of dictionarySizes) {
    await copy(level && Math.min(level, highestLevel), `DICTIONARY_SIZE_LIMIT ${size}`);
    if (size === 0 || (await isExact(connection, select, path, signal))) return;
  }
}

async function isExact(connection: Connection, select: string, path: string, signal: AbortSignal): Promise<boolean> {
  const meant = await columnsWithEqualValues(connection, `(${select})`);
  const written = await columnsWithEqualValues(connection, parquetRelation([{ path }]));
  return meant !== undefined && written !== undefined && haveSameValues(connection, [meant, written], signal);
}
