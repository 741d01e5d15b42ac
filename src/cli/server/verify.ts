import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { shownCount } from '../../core/text/amounts.ts';
import { directoryLogger, faultLine, shownFrame, untilStopped } from '../framework/directory-config.ts';
import type { Environment } from '../framework/environment.ts';
import type { NamedFrame, RepairStorage } from '../framework/server-module.ts';

const repairFlag = '--repair';

/** `framehold verify`: a line for each damaged frame, macro and type, and a sum; exit code 1 when there is any damage. */
export async function verify(environment: Environment, argv: readonly string[]): Promise<number> {
  const isRepair = argv.includes(repairFlag);
  const { config } = loadConfig({ ...environment, argv: argv.filter((argument) => argument !== repairFlag) });
  const logger = directoryLogger(environment, config);
  const { repairStorage, verifyFrames } = await environment.loadStorage(config);
  return untilStopped(environment, 'stopped before everything was checked', async (signal) => {
    if (isRepair) tellRepairs(environment, await repairStorage(config, logger, { signal }));
    let [sound, unsummed, damaged] = [0, 0, 0];
    for await (const verdict of verifyFrames(config, logger, { signal })) {
      const { tenant } = verdict;
      if ('definition' in verdict) {
        damaged++;
        const shown = shownFrame({ tenant, handle: verdict.definition });
        environment.stdout.write(`damaged  ${shown}: its file holds no macro or type; create it again\n`);
        continue;
      }
      const { handle, fault, isChecksummed } = verdict;
      if (fault !== undefined) {
        damaged++;
        const frame = { tenant, handle };
        const line = faultLine({ frame, reason: fault });
        environment.stdout.write(isRepair ? `${line}; ${whatToDo(frame)}\n` : `${line}\n`);
      } else if (isChecksummed) sound++;
      else unsummed++;
    }
    environment.stdout.write(sumLine(config, { sound, unsummed, damaged }));
    return damaged > 0 ? 1 : 0;
  });
}

function tellRepairs(
  environment: Environment,
  { leftovers, cacheBlocks, adopted }: Awaited<ReturnType<RepairStorage>>,
) {
  const { stdout } = environment;
  if (leftovers > 0) stdout.write(`removed  ${shownCount(leftovers, 'file')} that processes had left\n`);
  if (cacheBlocks > 0) stdout.write(`removed  ${shownCount(cacheBlocks, 'damaged file')} of the disk cache\n`);
  for (const frame of adopted) {
    stdout.write(
      `adopted  ${shownFrame(frame)}: its manifest was not readable; it has a new one made of its files, without a time to live\n`,
    );
  }
}

function whatToDo({ tenant, handle }: NamedFrame): string {
  const flag = tenant === 'default' ? '' : ` --tenant ${tenant}`;
  return `restore it from a backup, or drop it: framehold rm ${handle}${flag}`;
}

function sumLine(
  { storage }: Config,
  { sound, unsummed, damaged }: { readonly sound: number; readonly unsummed: number; readonly damaged: number },
): string {
  const readable = unsummed > 0 ? `, ${unsummed} from outside readable (no checksum)` : '';
  return `${storage.parquetPath}: ${sound} sound${readable}, ${damaged} damaged\n`;
}
