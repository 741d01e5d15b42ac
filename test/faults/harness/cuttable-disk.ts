import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadLibc } from '@framehold/duckdb';

/** `_IOR('X', 125, __u32)` of Linux, and its flag for a disk that keeps nothing more, not even its journal. */
const ext4Shutdown = 0x8004587d;
const withoutFlushingTheJournal = 2;

/** The kernel keeps back whatever no fsync asks for, and data are not written because a file was renamed. */
const mountOptions = 'loop,commit=300,data=writeback,noauto_da_alloc';

/** In memory: the disk under it must not be what a test waits for. */
const placeForImages = '/dev/shm';

export interface CuttableDisk extends AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;
  /** From now on nothing reaches the disk. What an fsync did not ask for before is lost. */
  cutPower(): void;
  /** As a machine finds the disk when it starts again. Nothing may use it. */
  restart(): Promise<void>;
}

/** A real file system of its own in a file, whose power can be cut. Needs root. */
export async function cuttableDisk({ megabytes = 128, inodeBytes = 256 } = {}): Promise<CuttableDisk> {
  const folder = await mkdtemp(join(placeForImages, 'framehold-disk-'));
  const image = join(folder, 'image');
  const path = join(folder, 'mounted');
  await mkdir(path);
  execFileSync('truncate', ['--size', `${megabytes}M`, image]);
  execFileSync('mkfs.ext4', ['-q', '-F', '-I', String(inodeBytes), image]);
  const mount = (): void => void execFileSync('mount', ['-o', mountOptions, image, path]);
  const remove = (): void => {
    spawnSync('umount', ['--lazy', path], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  };
  // A test that takes too long may be ended without its disposals.
  process.once('exit', remove);
  mount();
  return {
    path,
    cutPower: () => shutDown(path),
    async restart() {
      await unmount(path);
      // The kernel replays the journal, as it does at any start.
      mount();
      await unmount(path);
      execFileSync('e2fsck', ['-f', '-n', image], { stdio: 'pipe' });
      mount();
    },
    [Symbol.asyncDispose]: async () => {
      process.off('exit', remove);
      remove();
    },
  };
}

function shutDown(path: string): void {
  const ioctl = loadLibc().func('int ioctl(int, unsigned long, uint32_t *)');
  const directory = openSync(path, 'r');
  try {
    if (ioctl(directory, ext4Shutdown, [withoutFlushingTheJournal]) !== 0) throw new Error('the power cannot be cut');
  } finally {
    closeSync(directory);
  }
}

/** A process that has just been killed may hold it a moment longer. */
async function unmount(path: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      execFileSync('umount', [path], { stdio: 'pipe' });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(10);
    }
  }
}
