import type { ClientContext } from '../framework/client-command.ts';
import { printable } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold whoami` */
export async function whoami(context: ClientContext, { flags }: Given<ClientTables['whoami']>): Promise<number> {
  const identity = await context.client.whoami(context);
  if (flags.json) context.environment.stdout.write(`${JSON.stringify(identity)}\n`);
  else {
    const { name, tenant, role, prefix, credential, expires } = identity;
    const handles = prefix === null ? '' : `, handles that begin with ${printable(prefix)}`;
    const until = expires === null ? '' : `, until ${expires}`;
    context.environment.stdout.write(
      `${printable(name)}: ${role} in the tenant ${tenant}${handles} (credential: ${credential}${until})\n`,
    );
  }
  return 0;
}
