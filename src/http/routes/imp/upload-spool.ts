import { open } from 'node:fs/promises';
import { storage } from '../../../frames/disk/durable-file.ts';
import { type BodyLimits, uncountedBytes } from '../../exchange/request-body.ts';

/** Few large writes cost less than many small ones. */
const writeBytes = 1024 * 1024;

const LF = 10;
const CR = 13;

export interface Spooled {
  /** As in CsvOptions. */
  readonly isPlainText: boolean;
}

/** Writes to a new file, as fast as the disk takes it: one block is written while the next is filled. `takeMemory`: as in BodyLimits. */
export async function spool(
  body: AsyncIterable<Buffer>,
  path: string,
  takeMemory?: BodyLimits['takeMemory'],
): Promise<Spooled> {
  await using file = await storage(() => open(path, 'wx'));
  let block = Buffer.allocUnsafeSlow(writeBytes);
  let other: Buffer<ArrayBuffer> | undefined;
  let filled = 0;
  let writing = Promise.resolve();
  let isPlainText = true;
  const flush = async (): Promise<void> => {
    await writing;
    const full = block.subarray(0, filled);
    writing = storage(() => file.appendFile(full));
    // The next full block, or the end, gets the error.
    writing.catch(() => {});
    isPlainText &&= isPlain(full);
    [block, other] = [other ?? Buffer.allocUnsafeSlow(writeBytes), block];
    filled = 0;
  };
  let isCounted = false;
  for await (const piece of body) {
    if (!isCounted && filled + piece.length > uncountedBytes) {
      isCounted = true;
      await takeMemory?.(2 * writeBytes);
    }
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(block, filled, at);
      at += copied;
      filled += copied;
      if (filled === writeBytes) await flush();
    }
  }
  if (filled > 0) await flush();
  await writing;
  return { isPlainText };
}

function isPlain(block: Buffer): boolean {
  if (block.includes(0)) return false;
  return block.length < writeBytes || block.includes(LF) || block.includes(CR);
}
