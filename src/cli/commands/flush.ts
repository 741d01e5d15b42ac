import { Administration } from '#client/administration.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { forEachOperand } from '../framework/each-operand.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold flush`: a line for each frame whose rows are in Parquet. */
export async function flush(context: ClientContext, { operands }: Given<ClientTables['flush']>): Promise<number> {
  return await forEachOperand(context, operands, {
    undone: 'flushed',
    act: async (handle) => {
      const { rows } = await new Administration(context.client).flush(handle, context);
      return `flushed ${handle}: ${rows} rows`;
    },
  });
}
