/** The formats of files that people bring and take away. */
export const fileFormats = ['csv', 'tsv', 'parquet', 'arrow', 'json', 'ndjson'] as const;
export type FileFormatName = (typeof fileFormats)[number];

/** No more of a file is read for a preview. */
export const previewBytes = 256 * 1024;

const byEnding: ReadonlyMap<string, FileFormatName> = new Map([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['parquet', 'parquet'],
  ['pq', 'parquet'],
  ['arrow', 'arrow'],
  ['arrows', 'arrow'],
  ['feather', 'arrow'],
  ['ipc', 'arrow'],
  ['json', 'json'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

export const packedEnding = /\.(gz|gzip|zst|zstd)$/i;

/** The format by the extension of a file's name, if it has a known one. */
export function formatOfName(name: string): FileFormatName | undefined {
  const ending = /\.([^./\\]+)$/.exec(name.replace(packedEnding, ''))?.[1];
  return ending === undefined ? undefined : byEnding.get(ending.toLowerCase());
}
