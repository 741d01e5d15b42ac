import { shownBytes, shownCount, shownMs } from '../../core/text/amounts.ts';
import type { DirectoryTables } from '../framework/command-tables.ts';
import { assertGiven, directoryConfig, faultLine, untilStopped } from '../framework/directory-config.ts';
import type { Environment } from '../framework/environment.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold restore`: a line with the result, and one for each missing or damaged part; exit code 1 then. */
export async function restore(environment: Environment, given: Given<DirectoryTables['restore']>): Promise<number> {
  const [source = ''] = given.operands;
  assertGiven('SOURCE', source);
  const { config } = directoryConfig(environment, given.flags);
  const { restoreStorage } = await environment.loadStorage(config);
  return untilStopped(environment, 'stopped; nothing was restored', async (signal) => {
    const { backup, frames, bytes, faults, leftOut, ms } = await restoreStorage(config, { source, signal });
    for (const fault of faults) environment.stdout.write(`${faultLine(fault)}\n`);
    for (const fault of leftOut) environment.stdout.write(`${faultLine(fault, 'left out of the backup')}\n`);
    const sums = [
      shownCount(frames, 'frame'),
      shownBytes(bytes),
      ...(faults.length > 0 ? [`${faults.length} damaged and left out`] : []),
      ...(leftOut.length > 0 ? [`${leftOut.length} left out of the backup`] : []),
      shownMs(ms),
    ];
    environment.stdout.write(`${config.storage.parquetPath}: restored from ${backup}: ${sums.join(', ')}\n`);
    return faults.length + leftOut.length > 0 ? 1 : 0;
  });
}
