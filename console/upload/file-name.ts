import { formatOfName, packedEnding } from '../../src/core/rows/file-format.ts';

const longestHandle = 128;

/** Such a file is unpacked by the server, and has no preview. */
export function isPacked(fileName: string): boolean {
  return packedEnding.test(fileName);
}

/** A handle that reads like the name of the file. `prefix`: handles must begin so. */
export function handleForFile(fileName: string, prefix = ''): string {
  const unpacked = fileName.replace(packedEnding, '');
  const ending = endingOf(unpacked);
  const stem =
    formatOfName(unpacked) !== undefined || ending === 'txt' ? unpacked.slice(0, -ending.length - 1) : unpacked;
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
