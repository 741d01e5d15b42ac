import { join } from 'node:path';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { noLimits } from '../../src/auth/tenant-record.ts';
import type { ListedToken } from '../../src/auth/token-record.ts';
import { defaultTenant, type Role, type Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { eventually } from './frame-store.ts';
import { type Framehold, type FrameholdOptions, startFramehold } from './framehold.ts';
import { type Answer, ask } from './http-client.ts';

/** The callers. The frames are those of the tenant `default`; the admin of another tenant has none. */
export const callers = [
  'stranger',
  'revoked',
  'expired',
  'otherTenant',
  'reader',
  'writer',
  'admin',
  'operator',
] as const;

export type CallerName = (typeof callers)[number];

export const otherTenant = 'other' as Tenant;

/** Callers with invalid credentials. */
export function isUnknown(caller: CallerName): boolean {
  return caller === 'stranger' || caller === 'revoked' || caller === 'expired';
}

/** Whether a caller of the frames' own tenant has the least role for something. */
export function mayFrom(least: CallerName, caller: CallerName): boolean {
  const role = caller === 'otherTenant' ? 'admin' : caller;
  return callers.indexOf(role) >= callers.indexOf(least);
}

interface NewToken {
  readonly tenant?: Tenant;
  readonly prefix?: string;
  readonly expiresAt?: number;
}

/** A server with authentication, and a token for each kind of caller. */
export interface ClosedServer extends AsyncDisposable {
  readonly server: Framehold;
  readonly records: AccessRecords;
  token(caller: CallerName): string | undefined;
  /** The headers that the caller sends with every request. */
  headers(caller: CallerName): Record<string, string>;
  makeToken(role: Role, more?: NewToken): Promise<{ readonly token: string; readonly record: ListedToken }>;
  as(token: string | undefined, method: string, path: string, body?: string): Promise<Answer>;
  /** The server knows of the token, or of its end, within a second. */
  untilKnown(token: string, isKnown?: boolean): Promise<void>;
}

export async function startClosedServer(options: FrameholdOptions = {}): Promise<ClosedServer> {
  // All callers of a test have one address.
  const closing = { 'auth.enabled': 'true', 'auth.max_failed_logins': '1000000' };
  const server = await startFramehold({ ...options, settings: { ...closing, ...options.settings } });
  const records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
  const tokens = new Map<CallerName, string>();
  const as: ClosedServer['as'] = (token, method, path, body) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return ask(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  };
  const makeToken: ClosedServer['makeToken'] = (role, { tenant = defaultTenant, prefix, expiresAt } = {}) =>
    records.createToken({ name: role, role, tenant: role === 'operator' ? undefined : tenant, prefix, expiresAt });
  const untilKnown: ClosedServer['untilKnown'] = (token, isKnown = true) =>
    eventually(async () => (await as(token, 'GET', '/whoami')).status < 400 === isKnown, 2000);
  await records.createTenant(otherTenant, noLimits);
  const roles = { reader: 'read', writer: 'write', admin: 'admin', operator: 'operator' } as const;
  for (const [caller, role] of Object.entries(roles)) {
    tokens.set(caller as CallerName, (await makeToken(role)).token);
  }
  tokens.set('otherTenant', (await makeToken('admin', { tenant: otherTenant })).token);
  tokens.set('expired', (await makeToken('operator', { expiresAt: 1 })).token);
  const revoked = await makeToken('operator');
  tokens.set('revoked', revoked.token);
  await untilKnown(revoked.token);
  await records.revokeToken(revoked.record.id);
  await untilKnown(revoked.token, false);
  const token: ClosedServer['token'] = (caller) => tokens.get(caller);
  return {
    server,
    records,
    token,
    headers: (caller) => {
      const shown = token(caller);
      return shown === undefined ? {} : { authorization: `Bearer ${shown}` };
    },
    makeToken,
    as,
    untilKnown,
    async [Symbol.asyncDispose]() {
      records[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
