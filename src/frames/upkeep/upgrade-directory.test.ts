import { access, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import { currentFormat, readFormat } from './directory-format.ts';
import { assertReadableFormat, type UpgradeStep, upgradeDirectory, upgradeSteps } from './upgrade-directory.ts';

/** Moves a file; done again, it finds that it was done. */
const move: UpgradeStep = {
  to: currentFormat + 1,
  isCompatible: false,
  run: async (cold) => {
    const moved = join(cold, 'new');
    await access(moved).catch(() => writeFile(moved, 'moved'));
  },
};
const steps = [...upgradeSteps, move];
const upgrade = (cold: string, some: readonly UpgradeStep[] = steps) => upgradeDirectory(cold, silentLogger, some);

/** A server of an earlier version on another machine, for as long as the test wants. */
async function startPeer(cold: string): Promise<Disposable> {
  const folder = join(cold, '.framehold', 'processes');
  await mkdir(folder, { recursive: true });
  const path = join(folder, '7-PEER.living');
  await writeFile(path, `{"host":"elsewhere","pid":7} 000000000000\n`);
  const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), 100);
  return { [Symbol.dispose]: () => clearInterval(beat) };
}

/** As the first builds of 0.1.0 leave it. */
async function usedDirectory(): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory.path, '.framehold', 'processes'), { recursive: true });
  return directory;
}

test('the steps lead to the format of this program, one after the other', () => {
  expect(upgradeSteps.map(({ to }) => to)).toEqual(Array.from({ length: currentFormat }, (_, at) => at + 1));
});

test.concurrent('a directory without a format file is upgraded through all steps, once', async () => {
  await using directory = await usedDirectory();
  expect((await readFormat(directory.path)).format).toBe(0);
  await upgrade(directory.path);
  expect((await readFormat(directory.path)).format).toBe(currentFormat + 1);
  expect(await readFile(join(directory.path, 'new'), 'utf8')).toBe('moved');
  const never = { ...move, run: () => Promise.reject(new Error('again')) };
  await upgrade(directory.path, [...upgradeSteps, never]);
});

test.concurrent('a step that was cut off is done again by the next start', async () => {
  await using directory = await usedDirectory();
  const cutOff = {
    ...move,
    run: async (cold: string) => {
      await writeFile(join(cold, 'new'), 'moved');
      throw new Error('cut off');
    },
  };
  await expect(upgrade(directory.path, [...upgradeSteps, cutOff])).rejects.toThrow('cut off');
  expect((await readFormat(directory.path)).format).toBe(currentFormat);
  await upgrade(directory.path);
  expect((await readFormat(directory.path)).format).toBe(currentFormat + 1);
});

test.concurrent('servers that start at once on a directory upgrade it once', async () => {
  await using directory = await usedDirectory();
  let runs = 0;
  const counted = { ...move, run: async () => void runs++ };
  await Promise.all([1, 2, 3].map(() => upgrade(directory.path, [...upgradeSteps, counted])));
  expect({ runs, ...(await readFormat(directory.path)) }).toMatchObject({ runs: 1, format: currentFormat + 1 });
});

test.concurrent('a step that others could not bear is refused beside them, and one that they can is not', async () => {
  await using directory = await usedDirectory();
  using _ = await startPeer(directory.path);
  const compatible = upgradeSteps.filter(({ isCompatible }) => isCompatible);
  await upgrade(directory.path, compatible);
  expect((await readFormat(directory.path)).format).toBe(compatible.length);
  await expect(upgrade(directory.path)).rejects.toMatchObject({
    message: `${directory.path} has format ${compatible.length} and cannot be upgraded while another server runs on it (process 7-PEER)`,
    hint: 'stop all servers of the directory, then start this one',
  });
  await expect(assertReadableFormat(directory.path, steps)).rejects.toThrow('is to be upgraded first');
});

test.concurrent('a newer directory is refused, with what wrote it and what reads it', async () => {
  await using directory = await usedDirectory();
  await upgrade(directory.path);
  for (const open of [() => upgrade(directory.path, upgradeSteps), () => assertReadableFormat(directory.path)]) {
    await expect(open()).rejects.toThrow(
      new RegExp(
        `has format ${currentFormat + 1}, written by Framehold .*, which reads formats up to ${currentFormat}$`,
      ),
    );
  }
});
