import type { Connection, StatementColumn } from '../native/session.ts';
import { hasBytes, hasFloats } from './column-kinds.ts';
import { hasEqualFloats } from './equal-floats.ts';

/**
 * Options of COPY without which DuckDB 1.5.6 loses bits of floats (duckdb#25781), and misses rows of the file that it writes: its
 * reader asks bloom filters of floats and bytes wrongly (duckdb#23829, #24994, #23944). `sources`: relations that have all values.
 */
export async function exactOptions(
  connection: Connection,
  columns: readonly StatementColumn[],
  sources: readonly string[],
): Promise<readonly string[]> {
  const floats = columns.some(hasFloats);
  return [
    ...(floats || columns.some(hasBytes) ? ['WRITE_BLOOM_FILTER false'] : []),
    ...(floats && (await hasEqualFloats(connection, sources)) ? ['DICTIONARY_SIZE_LIMIT 0'] : []),
  ];
}
