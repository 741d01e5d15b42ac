import { shownBytes, shownCount, shownMs } from '../../core/text/amounts.ts';
import type { DirectoryTables } from '../framework/command-tables.ts';
import { directoryConfig, faultLine, untilStopped } from '../framework/directory-config.ts';
import type { Environment } from '../framework/environment.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold restore`: a line of what was done, and one for each damaged thing that was left out; exit code 1 then. */
export async function restore(environment: Environment, given: Given<DirectoryTables['restore']>): Promise<number> {
  const [source = ''] = given.operands;
  const { config } = directoryConfig(environment, given.flags);
  const { restoreStorage } = await environment.loadStorage();
  return untilStopped(environment, 'stopped; nothing was restored', async (signal) => {
    const { backup, frames, bytes, faults, ms } = await restoreStorage(config, { source, signal });
    for (const fault of faults) environment.stdout.write(`${faultLine(fault)}\n`);
    const sums = [
      shownCount(frames, 'frame'),
      shownBytes(bytes),
      ...(faults.length > 0 ? [`${faults.length} damaged and left out`] : []),
      shownMs(ms),
    ];
    environment.stdout.write(`${config.storage.parquetPath}: restored from ${backup}: ${sums.join(', ')}\n`);
    return faults.length > 0 ? 1 : 0;
  });
}
