import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  freeBytes(): Promise<number>;
  /** Takes all room but so much, in a file of ours; what an earlier call took is given back first. */
  leave(bytes: number): Promise<void>;
  /** Gives back what `leave` took. */
  makeRoom(): void;
  /** How many files more can be made. */
  freeFiles(): Promise<number>;
  remount(options: 'ro' | 'rw'): void;
}

/** A file system in memory of its own, with so much room. */
export async function smallDisk({ bytes, files }: { bytes: number; files?: number }): Promise<SmallDisk> {
  const directory = await temporaryDirectory();
  const { path } = directory;
  const limits = files === undefined ? '' : `,nr_inodes=${files}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}${limits}`, 'tmpfs', path]);
  const filler = join(path, 'filler');
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  };
  const makeRoom = (): void => rmSync(filler, { force: true });
  return {
    path,
    freeBytes,
    makeRoom,
    leave: async (left) => {
      makeRoom();
      await writeFile(filler, Buffer.alloc(Math.max(0, (await freeBytes()) - left)));
    },
    freeFiles: async () => (await statfs(path)).ffree,
    remount: (options) => execFileSync('mount', ['-o', `remount,${options}`, path]),
    [Symbol.asyncDispose]: async () => {
      execFileSync('umount', ['--lazy', path]);
      await directory[Symbol.asyncDispose]();
    },
  };
}
