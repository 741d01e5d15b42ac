import { open } from 'node:fs/promises';
import { storage } from '../../frames/durable-file.ts';

/** Few large writes cost less than many small ones. */
const writeBytes = 1024 * 1024;

/** Writes to a new file, as fast as the disk takes it. */
export async function spool(body: AsyncIterable<Buffer>, path: string): Promise<void> {
  await using file = await storage(() => open(path, 'wx'));
  let pieces: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const joined = Buffer.concat(pieces, bytes);
    pieces = [];
    bytes = 0;
    await storage(() => file.appendFile(joined));
  };
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= writeBytes) await flush();
  }
  if (bytes > 0) await flush();
}
