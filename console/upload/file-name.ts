export const fileFormats = ['csv', 'tsv', 'parquet', 'arrow', 'json', 'ndjson'] as const;
export type FileFormat = (typeof fileFormats)[number];

const byEnding: ReadonlyMap<string, FileFormat> = new Map([
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

const packedEnding = /\.(gz|gzip|zst|zstd)$/i;
const longestHandle = 128;

/** Such a file is unpacked by the server, and has no preview. */
export function isPacked(fileName: string): boolean {
  return packedEnding.test(fileName);
}

/** Undefined where the server is to find it out from the bytes. */
export function formatOfFile(fileName: string): FileFormat | undefined {
  return byEnding.get(endingOf(fileName.replace(packedEnding, '')));
}

/** A handle that reads like the name of the file. `prefix`: handles must begin so. */
export function handleForFile(fileName: string, prefix = ''): string {
  const unpacked = fileName.replace(packedEnding, '');
  const ending = endingOf(unpacked);
  const stem = byEnding.has(ending) || ending === 'txt' ? unpacked.slice(0, -ending.length - 1) : unpacked;
  const plain = stem
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[._-]+|[._-]+$/g, '');
  const handle = plain === '' ? 'upload' : plain;
  return (handle.startsWith(prefix) ? handle : `${prefix}${handle}`).slice(0, longestHandle);
}

/** Why a text is no handle; undefined where it is one. */
export function handleFault(text: string): string | undefined {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(text)) return undefined;
  if (text === '') return 'The frame needs a name.';
  return text.length > longestHandle
    ? `A name has at most ${longestHandle} characters.`
    : 'A name has letters, digits, _ . and -, and does not begin with . or -.';
}

function endingOf(fileName: string): string {
  return /\.([^./\\]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
}
