import type { ClientContext } from './client-command.ts';
import type { ClientTables } from './command-tables.ts';
import { forEachOperand } from './each-operand.ts';
import type { Given } from './flag-table.ts';

/** `framehold cancel`: a line for each statement that was told to stop. */
export async function cancel(context: ClientContext, { operands }: Given<ClientTables['cancel']>): Promise<number> {
  return await forEachOperand(context, operands, {
    undone: 'cancelled',
    act: async (id) => {
      await context.client.cancel(id, context);
      return `cancelled ${id}`;
    },
  });
}
