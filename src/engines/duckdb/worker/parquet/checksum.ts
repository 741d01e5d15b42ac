import { open } from 'node:fs/promises';
import { Checksum, newChecksumLike, type RunningChecksum } from '../../../../core/rows/checksum.ts';

const blockBytes = 1024 * 1024;

export interface FileChecksum {
  readonly checksum: string;
  readonly bytes: number;
}

/** Of a file, of the kind that another is of. */
export function checksumLike(other: string, path: string, signal: AbortSignal): Promise<FileChecksum> {
  return checksumOf(path, signal, newChecksumLike(other));
}

/** Reads in blocks, so that a cancelled job stops. */
export async function checksumOf(
  path: string,
  signal: AbortSignal,
  sum: RunningChecksum = new Checksum(),
): Promise<FileChecksum> {
  const block = Buffer.allocUnsafeSlow(blockBytes);
  await using file = await open(path, 'r');
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, blockBytes, bytes);
    if (bytesRead === 0) return { checksum: sum.digest(), bytes };
    sum.update(bytesRead === blockBytes ? block : block.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}
