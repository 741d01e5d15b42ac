import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';
import { shownBytes, shownCount, shownMs } from '../../core/text/amounts.ts';
import type { DirectoryTables } from '../framework/command-tables.ts';
import { assertGiven, directoryConfig, faultLine, untilStopped } from '../framework/directory-config.ts';
import type { Environment } from '../framework/environment.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold backup`: a line with the result, and one for each frame that could not be copied; exit code 1 then. */
export async function backup(environment: Environment, given: Given<DirectoryTables['backup']>): Promise<number> {
  const [destination = ''] = given.operands;
  assertGiven('DEST', destination);
  const keep = parseKeep(given.flags.keep);
  const { config, logger } = directoryConfig(environment, given.flags);
  const { backupStorage } = await environment.loadStorage(config);
  return untilStopped(environment, 'stopped; nothing is left of the backup', async (signal) => {
    const report = await backupStorage(config, logger, { destination, keep, signal });
    const { path, frames, bytes, copiedBytes, removed, faults, ms } = report;
    for (const fault of faults) environment.stdout.write(`${faultLine(fault)}\n`);
    const sums = [
      shownCount(frames, 'frame'),
      shownBytes(bytes),
      `${shownBytes(copiedBytes)} of it copied`,
      ...(removed > 0 ? [`${shownCount(removed, 'old backup')} removed`] : []),
      ...(faults.length > 0
        ? [`${faults.length} damaged and left out${keep === undefined ? '' : ', no old backup removed'}`]
        : []),
      shownMs(ms),
    ];
    environment.stdout.write(`${path}: ${sums.join(', ')}\n`);
    return faults.length > 0 ? 1 : 0;
  });
}

function parseKeep(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
  throw new UsageError(`--keep is ${quoteValue(given)}; expected a whole number from 1 on, such as 14`);
}
