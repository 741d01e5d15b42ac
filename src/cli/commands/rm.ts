import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { forEachOperand } from '../framework/each-operand.ts';
import type { Given } from '../framework/flag-table.ts';
import { wholeNumberFlag } from '../framework/flag-values.ts';

/** `framehold rm`: a line for each frame that is gone. */
export async function rm(context: ClientContext, { operands, flags }: Given<ClientTables['rm']>): Promise<number> {
  const version = wholeNumberFlag('--if-version', flags['if-version']);
  return await forEachOperand(context, operands, {
    undone: 'dropped',
    act: async (handle) => {
      await context.client.drop(handle, { version, signal: context.signal });
      return `dropped ${handle}`;
    },
  });
}
