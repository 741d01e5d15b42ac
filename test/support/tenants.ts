import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { type TenantChange, tenantRegistry } from '../../src/auth/tenant-registry.ts';
import type { Role, Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { byCommand, FlightClient, ipcOf } from './flight-client.ts';
import { any, type FieldValue } from './flight-sql-client.ts';
import { eventually } from './frame-store.ts';
import type { Framehold } from './framehold.ts';
import { type Answer, type AskOptions, ask } from './http-client.ts';

/** A caller of one tenant, over HTTP and Flight. */
export interface TenantCaller extends Disposable {
  readonly headers: { readonly authorization: string };
  readonly flight: FlightClient;
  ask(method: string, path: string, body?: string, options?: AskOptions): Promise<Answer>;
  sql(sql: string): Promise<Answer>;
  /** The rows that answer a command of Flight SQL. Rejects with the code of ours. */
  rows(command: string, ...fields: readonly FieldValue[]): Promise<Record<string, unknown>[]>;
}

export async function openRecords(server: Framehold): Promise<AccessRecords> {
  return AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
}

/** Makes the tenant where it is not there yet, and a token of it that the server knows. */
export async function tenantCaller(
  server: Framehold,
  name: string,
  { role = 'admin', ...limits }: TenantChange & { readonly role?: Role } = {},
): Promise<TenantCaller> {
  using records = await openRecords(server);
  const tenant = name as Tenant;
  if (!(await records.hasTenant(tenant))) await tenantRegistry(records).create(name, limits);
  const made = { name: `${name}-${role}`, role, prefix: undefined, expiresAt: undefined };
  const { token } = await records.createToken({ ...made, tenant: role === 'operator' ? undefined : tenant });
  const caller = callerWith(server, token);
  await eventually(async () => (await caller.ask('GET', '/whoami')).status === 200, 3000);
  return caller;
}

export function callerWith(server: Framehold, token: string): TenantCaller {
  const headers = { authorization: `Bearer ${token}` };
  const flight = new FlightClient(server.grpcAddress.port);
  const askServer: TenantCaller['ask'] = (method, path, body, options = {}) =>
    ask(`${server.url}${path}`, {
      ...options,
      method,
      headers: { ...headers, ...options.headers },
      ...(body !== undefined && { body }),
    });
  return {
    headers,
    flight,
    ask: askServer,
    sql: (sql) => askServer('POST', '/sql', JSON.stringify({ sql })),
    rows: async (command, ...fields) => {
      const info = await flight.info(byCommand(any(command, ...fields)), headers);
      const ticket = info.messages[0]?.endpoint[0]?.ticket.ticket;
      const answer = ticket === undefined ? info : await flight.get(ticket, headers);
      if (answer.status.code !== 0) {
        throw Object.assign(new Error(answer.status.details), { code: answer.code, status: answer.status.code });
      }
      return tableFromIPC(ipcOf(answer.messages as Parameters<typeof ipcOf>[0]))
        .toArray()
        .map((row) => row.toJSON());
    },
    [Symbol.dispose]: () => flight[Symbol.dispose](),
  };
}
