import { type FileHandle, link, open, unlink } from 'node:fs/promises';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { newChecksumLike } from '../../core/rows/checksum.ts';
import { type Identity, identityOf } from '../disk/part.ts';

const blockBytes = 1024 * 1024;

export interface FileCopy {
  readonly checksum: string;
  /** Identity of the new file. */
  readonly identity: Identity;
}

export interface CopyOptions {
  /** A checksum of the wanted kind. Default: ours. */
  readonly checksumLike?: string | null | undefined;
  /** Number of bytes from the start. Default: all. */
  readonly bytes?: number | undefined;
  readonly mode?: number | undefined;
  readonly signal: AbortSignal;
}

/** Copies a file block by block. Durable when it resolves, but for its name. Nothing is left where it rejects. */
export async function copyFile(from: string, to: string, options: CopyOptions): Promise<FileCopy> {
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx', options.mode);
    try {
      return await copyBytes(source, target, options);
    } catch (error) {
      await unlink(to).catch(() => {});
      throw error;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBytes(
  source: FileHandle,
  target: FileHandle,
  { checksumLike = null, bytes: most = Number.POSITIVE_INFINITY, signal }: CopyOptions,
): Promise<FileCopy> {
  const sum = newChecksumLike(checksumLike);
  const { size } = await source.stat();
  const block = Buffer.allocUnsafeSlow(Math.max(1, Math.min(blockBytes, size, most)));
  let at = 0;
  while (at < most) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(block, 0, Math.min(block.length, most - at), at);
    if (bytesRead === 0) break;
    const piece = block.subarray(0, bytesRead);
    sum.update(piece);
    await writeAll(target, piece, at);
    at += bytesRead;
  }
  await target.sync();
  return { checksum: sum.digest(), identity: identityOf(await target.stat({ bigint: true })) };
}

async function writeAll(target: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await target.write(bytes, at, bytes.length - at, position + at);
    if (bytesWritten === 0) throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' });
    at += bytesWritten;
  }
}

/** False where the file system gives the file no second name. */
export async function linkIfPossible(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES'].includes(errnoOf(error) ?? '')) {
      return false;
    }
    throw error;
  }
}
