/** DuckDB's own limit. Its buffers are 16 times as large, unless they are told otherwise. */
const usualBytes = 2_000_000;

/** Options of DuckDB's CSV reader for a file whose longest line is known. Its threads do not find their way in long ones. */
export function lineSizeOptions(longestLine: number): string[] {
  if (longestLine < usualBytes) return [];
  const bytes = longestLine + 16;
  return [`max_line_size = ${bytes}`, `buffer_size = ${2 * bytes}`, 'parallel = false'];
}
