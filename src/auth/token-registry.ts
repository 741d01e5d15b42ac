import { defaultTenant, type Role } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { parseDurationMs } from '../core/text/duration.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import { AccessRecords } from './access-records.ts';
import { parseTenant } from './tenant-registry.ts';
import type { ListedToken } from './token-record.ts';

/** A token as people see it, never its secret. */
export type TokenDocument = ReturnType<typeof tokenDocument>;

interface NewToken {
  readonly name: string;
  readonly role: string;
  /** A duration. Undefined: for ever. */
  readonly expires?: string | undefined;
  readonly prefix?: string | undefined;
  /** Undefined: the default one, or none for an operator. */
  readonly tenant?: string | undefined;
}

/** The tokens of a cold directory, for commands that work without a server. */
export interface TokenRegistry {
  /** Gives the secret. */
  create(token: NewToken): Promise<string>;
  list(): Promise<TokenDocument[]>;
  revoke(id: string): Promise<boolean>;
  rotate(id: string, overlapMs: number): Promise<string | undefined>;
}

export async function openTokenRegistry(coldDirectory: string): Promise<TokenRegistry> {
  const records = await AccessRecords.open(coldDirectory, new DurableFiles());
  return {
    create: async ({ name, role, expires, prefix, tenant: given }) => {
      checkTokenName(name);
      const expiresAt = expires === undefined ? undefined : Date.now() + parseDurationMs(expires);
      const tenant = role === 'operator' ? undefined : parseTenant(given ?? defaultTenant);
      return (await records.createToken({ name, role: role as Role, tenant, prefix, expiresAt })).token;
    },
    list: async () => (await records.listTokens()).map(tokenDocument),
    revoke: (id) => records.revokeToken(id),
    rotate: async (id, overlapMs) => (await records.rotateToken(id, overlapMs))?.token,
  };
}

export const longestTokenName = 100;

export function checkTokenName(name: string): void {
  if (name.trim() !== '' && name.length <= longestTokenName) return;
  throw new AppError(
    'invalid_parameter',
    `${JSON.stringify(name.slice(0, longestTokenName))} cannot be the name of a token; it has 1 to ${longestTokenName} characters, not only spaces`,
  );
}

export function tokenDocument({ id, name, tenant, role, prefix, createdAt, expiresAt, lastUsed }: ListedToken) {
  return {
    id,
    name,
    tenant: tenant ?? null,
    role,
    prefix: prefix ?? null,
    created: new Date(createdAt).toISOString(),
    expires: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    last_used: lastUsed ?? null,
  };
}
