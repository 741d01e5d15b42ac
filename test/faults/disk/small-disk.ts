import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  freeBytes(): Promise<number>;
  /** Takes all room but so much, in a file of ours; what an earlier call took is given back first. */
  leave(bytes: number): Promise<void>;
  /** The same for files. */
  leaveFiles(files: number): Promise<void>;
  /** Gives back what `leave` and `leaveFiles` took. */
  makeRoom(): void;
  remount(options: 'ro' | 'rw'): void;
}

/** A file system in memory of its own, with so much room. */
export async function smallDisk({ bytes, files }: { bytes: number; files?: number }): Promise<SmallDisk> {
  const directory = await temporaryDirectory();
  const { path } = directory;
  const limits = files === undefined ? '' : `,nr_inodes=${files}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}${limits}`, 'tmpfs', path]);
  const filler = join(path, 'filler');
  const fillers = join(path, 'fillers');
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  };
  const makeRoom = (): void => {
    for (const taken of [filler, fillers]) rmSync(taken, { recursive: true, force: true });
  };
  return {
    path,
    freeBytes,
    makeRoom,
    leave: async (left) => {
      makeRoom();
      await untilFull(async () => writeFile(filler, Buffer.alloc(Math.max(0, (await freeBytes()) - left))));
    },
    leaveFiles: async (left) => {
      makeRoom();
      await untilFull(async () => {
        await mkdir(fillers);
        const { ffree } = await statfs(path);
        for (let free = ffree; free > left; free--) await writeFile(join(fillers, String(free)), '');
      });
    },
    remount: (options) => {
      // A file that is written at this moment keeps the disk writable.
      execFileSync('sh', [
        '-c',
        `for i in 1 2 3 4 5; do mount -o remount,${options} '${path}' && exit; sleep 0.1; done; exit 1`,
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      execFileSync('umount', ['--lazy', path]);
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** A server that makes files of its own meanwhile may leave less room than was counted: then it is full. */
async function untilFull(fill: () => Promise<void>): Promise<void> {
  try {
    await fill();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
