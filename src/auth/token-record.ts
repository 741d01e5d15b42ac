import { isRole, isTenant, type Role, type Tenant } from '../core/callers/principal.ts';
import { isOptional } from '../frames/disk/record-folder.ts';

/** A token, without its secret. */
export interface TokenRecord {
  readonly name: string;
  /** An operator's has none. */
  readonly tenant: Tenant | undefined;
  /** Creation time of its tenant: one made anew under the name is another. `default` is always the same. */
  readonly tenantCreatedAt?: number | undefined;
  readonly role: Role;
  readonly prefix: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

export interface ListedToken extends TokenRecord {
  readonly id: string;
  /** The day, in UTC. Undefined if it was not used yet, or was not looked up. */
  readonly lastUsed?: string | undefined;
}

/** The fields of a new token. */
export type NewToken = Omit<TokenRecord, 'createdAt' | 'tenantCreatedAt'>;

/** Undefined where the record of a file is none. */
export function parseTokenRecord(value: unknown): TokenRecord | undefined {
  const { name, tenant, tenantCreatedAt, role, prefix, createdAt, expiresAt } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof role !== 'string' || !isRole(role) || typeof createdAt !== 'number')
    return undefined;
  if (tenant !== undefined && (typeof tenant !== 'string' || !isTenant(tenant))) return undefined;
  if ((tenant === undefined) !== (role === 'operator')) return undefined;
  if (!isOptional(prefix, 'string') || !isOptional(expiresAt, 'number')) return undefined;
  if (!isOptional(tenantCreatedAt, 'number')) return undefined;
  return { name, tenant, tenantCreatedAt, role, prefix, createdAt, expiresAt };
}
