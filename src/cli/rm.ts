import { ClientError } from '../client/client-error.ts';
import type { ClientContext } from './client-command.ts';
import { failureLine } from './command-failure.ts';
import type { ClientTables } from './command-tables.ts';
import type { Given } from './flag-table.ts';
import { wholeNumber } from './flag-values.ts';

/** `framehold rm`: a line for each frame that is gone. */
export async function rm(context: ClientContext, { operands, flags }: Given<ClientTables['rm']>): Promise<number> {
  const { host, client, signal } = context;
  const version = wholeNumber('--if-version', flags['if-version']);
  let failed = 0;
  for (const [index, handle] of operands.entries()) {
    const rest = operands.slice(index);
    context.undone(`${rest.join(', ')} ${rest.length === 1 ? 'was' : 'were'} not dropped`);
    try {
      await client.drop(handle, version, { signal });
      host.stdout.write(`dropped ${handle}\n`);
    } catch (error) {
      const isOver = !(error instanceof ClientError) || error.outcome !== 'refused';
      if (isOver) throw error;
      host.stderr.write(`framehold: ${failureLine(error)}\n`);
      failed++;
    }
  }
  return failed === 0 ? 0 : 1;
}
