import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { forEachOperand } from '../framework/each-operand.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold cancel`: a line for each stopped statement. */
export async function cancel(context: ClientContext, { operands }: Given<ClientTables['cancel']>): Promise<number> {
  return await forEachOperand(context, operands, {
    undone: 'cancelled',
    act: async (id) => {
      await context.client.cancel(id, context);
      return `cancelled ${id}`;
    },
  });
}
