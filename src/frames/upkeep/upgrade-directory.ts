import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { version } from '../../core/system/version.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { takeExclusiveFile } from '../peers/exclusive-file.ts';
import { findEarlierProcess, findLivingProcess, type Heartbeat } from '../peers/living-processes.ts';
import { earlierBuildsMark, markAgainstEarlierBuilds, readKnownFormat, writeFormat } from './directory-format.ts';

/** Brings a directory from one format to the next. */
export interface UpgradeStep {
  readonly to: number;
  /** Servers of the format before can go on beside it, and read and write the upgraded directory. */
  readonly isCompatible: boolean;
  /** This program reads frames of the format before unchanged. Default: as `isCompatible`. */
  readonly isReadable?: boolean;
  /** May be cut off at any moment, and is then done again from its beginning. */
  readonly run: (coldDirectory: string, durable: DurableFiles) => Promise<void>;
}

/** In order, the last one to `currentFormat`. A step stays for good: a directory of any age is upgraded. */
export const upgradeSteps: readonly UpgradeStep[] = [
  // 0.1.0 had no format file; the other files are the same.
  { to: 1, isCompatible: true, run: async () => {} },
  // Manifests of views, which have no parts: a server of the format before takes them for empty frames.
  { to: 2, isCompatible: true, run: async () => {} },
  // The leases of processes are in another folder, where a server of the format before does not see them.
  { to: 3, isCompatible: false, isReadable: true, run: markAgainstEarlierBuilds },
];

/** Most time that a server waits for another one that upgrades the directory. */
const mostWaitMs = 60_000;
const pollMs = 200;
/** Longer than a server takes from its look at the format until others can see it. */
const enterMs = 1000;

/** Before the directory is opened otherwise: upgrades it to the format of this program, or refuses it. */
export async function upgradeDirectory(
  coldDirectory: string,
  logger: Logger,
  steps: readonly UpgradeStep[] = upgradeSteps,
): Promise<void> {
  const newest = steps.at(-1)?.to ?? 0;
  const { format } = await readKnownFormat(coldDirectory, newest);
  const due = stepsAfter(format, steps);
  const durable = new DurableFiles();
  try {
    if (due.length === 0) {
      // A copy may lack the mark, and be used by an earlier build.
      if (await isUsed(coldDirectory)) await refuseBesideEarlier(coldDirectory, format);
      return await markAgainstEarlierBuilds(coldDirectory, durable);
    }
    const isCompatible = due.every((step) => step.isCompatible);
    if (format > 0 || (!isCompatible && (await isUsed(coldDirectory)))) {
      return await upgradeAlone(coldDirectory, durable, logger, steps);
    }
    await runSteps(coldDirectory, due, durable, logger, { isFirst: true });
    await readKnownFormat(coldDirectory, newest);
  } catch (error) {
    // Frames of a disk that is full or cannot be written are still read.
    if (!due.every(isReadableBefore) || !isRefusedByDisk(error)) throw error;
    if (due.length > 0) await refuseBesideEarlier(coldDirectory, format);
    logger.debug('the format of the directory could not be noted', { error: String(error) });
  }
}

/** Whether a server of a format before may have worked here. */
async function isUsed(coldDirectory: string): Promise<boolean> {
  const found = await stat(earlierBuildsMark(coldDirectory)).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

function isReadableBefore({ isCompatible, isReadable = isCompatible }: UpgradeStep): boolean {
  return isReadable;
}

/** For commands that do not upgrade: refuses a directory that they would misread. */
export async function assertReadableFormat(
  coldDirectory: string,
  steps: readonly UpgradeStep[] = upgradeSteps,
): Promise<void> {
  const { format } = await readKnownFormat(coldDirectory, steps.at(-1)?.to ?? 0);
  if (stepsAfter(format, steps).every(isReadableBefore)) return;
  throw new AppError('invalid_input', `${coldDirectory} has format ${format}, which is to be upgraded first`, {
    hint: `stop all servers of the directory and start one of Framehold ${version}, which upgrades it`,
  });
}

async function upgradeAlone(
  coldDirectory: string,
  durable: DurableFiles,
  logger: Logger,
  steps: readonly UpgradeStep[],
): Promise<void> {
  await using _ = await lockUpgrade(coldDirectory, durable);
  // Another server may have upgraded it meanwhile.
  const { format } = await readKnownFormat(coldDirectory, steps.at(-1)?.to ?? 0);
  const due = stepsAfter(format, steps);
  if (due.some(({ isCompatible }) => !isCompatible)) {
    await refuseBesideOthers(coldDirectory, format);
    await pause(enterMs);
    await refuseBesideOthers(coldDirectory, format);
  }
  await runSteps(coldDirectory, due, durable, logger, { isFirst: false });
}

async function lockUpgrade(coldDirectory: string, durable: DurableFiles): Promise<AsyncDisposable> {
  const folder = join(coldDirectory, '.framehold');
  await durable.makeFolder(folder);
  const path = join(folder, 'upgrade.lock');
  const begunAt = performance.now();
  for (;;) {
    const lock = await takeExclusiveFile(path, durable);
    if (lock.kind === 'held') return lock;
    if (performance.now() - begunAt > mostWaitMs) {
      throw new AppError('overloaded', `another process upgrades ${coldDirectory}`, {
        hint: 'try again when it is done',
      });
    }
    await pause(pollMs);
  }
}

/** For processes that do not upgrade the directory, and would be invisible to servers of an earlier format. */
export async function assertNoEarlierServer(coldDirectory: string): Promise<void> {
  const { format } = await readKnownFormat(coldDirectory);
  if (stepsAfter(format, upgradeSteps).length > 0) await refuseBesideEarlier(coldDirectory, format);
}

async function refuseBesideEarlier(coldDirectory: string, format: number): Promise<void> {
  refuseBeside(coldDirectory, format, await findEarlierProcess(coldDirectory));
}

async function refuseBesideOthers(coldDirectory: string, format: number): Promise<void> {
  refuseBeside(coldDirectory, format, await findLivingProcess(coldDirectory));
}

function refuseBeside(coldDirectory: string, format: number, living: Heartbeat | undefined): void {
  if (living === undefined) return;
  throw new AppError(
    'invalid_input',
    `${coldDirectory} has format ${format} and cannot be upgraded while another server runs on it (process ${living.id})`,
    { hint: 'stop all servers of the directory, then start this one' },
  );
}

async function runSteps(
  coldDirectory: string,
  due: readonly UpgradeStep[],
  durable: DurableFiles,
  logger: Logger,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  for (const { to, run } of due) {
    await run(coldDirectory, durable);
    // The first file there is stays: it is that of the last step.
    if (isFirst && to !== due.at(-1)?.to) continue;
    await writeFormat(coldDirectory, to, durable, { isFirst });
    logger[isFirst ? 'debug' : 'info']('the directory has another format now', { format: to });
  }
}

function stepsAfter(format: number, steps: readonly UpgradeStep[]): readonly UpgradeStep[] {
  return steps.filter(({ to }) => to > format);
}

function isRefusedByDisk(error: unknown): boolean {
  return ['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}
