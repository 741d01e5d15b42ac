/** DuckDB's own limit. */
const usualBytes = 2_000_000;

/**
 * Options of DuckDB's CSV reader for a file whose longest line is known. Its buffers would be 16 times as long as a
 * line, which takes hundreds of megabytes for a large file and saves no time. Its threads do not find line starts in
 * long lines.
 */
export function lineSizeOptions(longestLine: number): string[] {
  if (longestLine < usualBytes) return [`buffer_size = ${2 * usualBytes}`];
  const bytes = longestLine + 16;
  return [`max_line_size = ${bytes}`, `buffer_size = ${2 * bytes}`, 'parallel = false'];
}
