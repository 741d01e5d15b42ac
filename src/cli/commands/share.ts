import { UsageError } from '../../config/usage-error.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';

/** `framehold share`: without a tenant, a line for each that the frame is shared with. */
export async function share(
  context: ClientContext,
  { operands, flags }: Given<ClientTables['share']>,
): Promise<number> {
  const { client, environment } = context;
  const [handle = ''] = operands;
  const { with: tenant } = flags;
  if (tenant === undefined) {
    const tenants = await client.shares(handle, context);
    environment.stdout.write(tenants.map((each) => `${each}\n`).join(''));
    return 0;
  }
  await client.share(handle, tenant, context);
  environment.stderr.write(`${handle} is shared with ${tenant}\n`);
  return 0;
}

/** `framehold unshare` */
export async function unshare(
  context: ClientContext,
  { operands, flags }: Given<ClientTables['unshare']>,
): Promise<number> {
  const { client, environment } = context;
  const [handle = ''] = operands;
  const { with: tenant } = flags;
  if (tenant === undefined) throw new UsageError('unshare needs --with and the name of a tenant');
  await client.unshare(handle, tenant, context);
  environment.stderr.write(`${handle} is not shared with ${tenant} any more\n`);
  return 0;
}
