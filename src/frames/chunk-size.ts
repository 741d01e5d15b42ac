const targetChunkBytes = 1024 * 1024;
const fewestRows = 16;
const mostRows = 65_536;

/** How many rows make a chunk of about 1 MiB of JSON: a power of two, so that chunks of all sizes start at round rows. */
export function chunkRowsOf(frame: {
  readonly rows: number;
  readonly columns: number;
  readonly uncompressedBytes: number;
}): number {
  const storedRowBytes = frame.rows === 0 ? 0 : frame.uncompressedBytes / frame.rows;
  // Parquet's dictionaries make stored rows look small; JSON spells every value out, about 12 bytes each and more for text.
  const jsonRowBytes = storedRowBytes * 1.5 + frame.columns * 12;
  const rows = 2 ** Math.floor(Math.log2(targetChunkBytes / Math.max(jsonRowBytes, 1)));
  return Math.min(mostRows, Math.max(fewestRows, rows));
}
