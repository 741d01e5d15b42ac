import type { Connection, StatementColumn } from '../native/session.ts';
import { hasBytes, hasFloats, isInterval } from './column-kinds.ts';
import { hasEqualValues } from './equal-values.ts';

/**
 * Options of COPY without which DuckDB 1.5.6 loses bits of floats (duckdb#25781) and parts of intervals, and misses rows of the file that it writes: its
 * reader asks bloom filters of floats and bytes wrongly (duckdb#23829, #24994, #23944). `sources`: relations that have all values.
 */
export async function exactOptions(
  connection: Connection,
  columns: readonly StatementColumn[],
  sources: readonly string[],
): Promise<readonly string[]> {
  const floats = columns.some(hasFloats);
  const mayMerge = floats || columns.some(isInterval);
  return [
    ...(floats || columns.some(hasBytes) ? ['WRITE_BLOOM_FILTER false'] : []),
    ...(mayMerge && (await hasEqualValues(connection, sources)) ? ['DICTIONARY_SIZE_LIMIT 0'] : []),
  ];
}
