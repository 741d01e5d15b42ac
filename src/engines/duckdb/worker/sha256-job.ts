import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const blockBytes = 1024 * 1024;

/** The checksum of a file, read in blocks so that a cancelled job stops. */
export async function sha256(path: string, signal: AbortSignal): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafeSlow(blockBytes);
  await using file = await open(path, 'r');
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, blockBytes, bytes);
    if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
    hash.update(bytesRead === blockBytes ? block : block.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}
