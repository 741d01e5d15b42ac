import { open } from 'node:fs/promises';
import { newChecksumLike } from '../../core/rows/checksum.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';

/** Up to this size reading and hashing here, in one short turn of the event loop, is faster than a job of a process. */
const smallBytes = 128 * 1024;

/** Whether a file has the bytes that were written. */
export async function hasPartChecksum(
  engine: FrameEngine,
  { size, checksum }: { readonly size: number; readonly checksum: string },
  path: string,
  options: Parameters<FrameEngine['hasChecksum']>[2],
): Promise<boolean> {
  if (size <= smallBytes) {
    // The engine reports unreadable files, in its words.
    const bytes = await readAtMost(path, size + 1).catch(() => undefined);
    options.signal.throwIfAborted();
    if (bytes !== undefined) {
      const sum = newChecksumLike(checksum);
      sum.update(bytes);
      return sum.digest() === checksum;
    }
  }
  return engine.hasChecksum(path, checksum, options);
}

/** Other bytes may follow ours. */
async function readAtMost(path: string, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
