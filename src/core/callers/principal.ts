import type { X509Certificate } from 'node:crypto';
import type { RequestNotes } from '../logs/request-notes.ts';
import type { Span } from '../logs/span.ts';
import { networkOf } from './address-counts.ts';

declare const tenantBrand: unique symbol;

/** The owner of frames. Each tenant has a namespace of handles of its own. */
export type Tenant = string & { readonly [tenantBrand]: true };

/** The tenant of every caller while there is no authentication. */
export const defaultTenant = 'default' as Tenant;

/** Names of schemas and catalogs in SQL; `recurring` is one of recursive queries. */
const reservedNames: ReadonlySet<string> = new Set(
  'frames framehold analytics tsdb main temp system memory information_schema pg_catalog recurring'.split(' '),
);

/** A tenant's name is the name of a folder and of a schema in SQL. In lower case: folders of some systems ignore case. */
export function isTenant(text: string): text is Tenant {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text) && !reservedNames.has(text);
}

/** Each has the rights of those before it. An operator is above all tenants. */
export const roles = ['read', 'write', 'admin', 'operator'] as const;

export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

export function hasRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** The limits of a tenant. */
export interface TenantLimits {
  /** Undefined, here and below: without limit. */
  readonly maxBytes: number | undefined;
  readonly maxFrames: number | undefined;
  readonly maxStatements: number | undefined;
  /** Requests a second. */
  readonly maxRate: number | undefined;
  /** Beside `local`: names of engines, `tsdb`, `analytics`. Undefined: all. */
  readonly engines: readonly string[] | undefined;
}

/** The identified caller. */
export interface Principal {
  readonly tenant: Tenant;
  readonly name: string;
  readonly role: Role;
  /** Only handles that begin so are theirs to see. */
  readonly prefix?: string | undefined;
  readonly credential: 'none' | 'anonymous' | 'token' | 'jwt' | 'certificate';
  /** Id of the credential, for the audit; never the secret. */
  readonly credentialId?: string | undefined;
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Limits of the tenant. Undefined: none. */
  readonly limits?: TenantLimits | undefined;
  /** Notes of its request, if there is an audit. */
  readonly notes?: RequestNotes | undefined;
  /** Span of its request, if that is traced. */
  readonly span?: Span | undefined;
}

/** The caller while a view of this tenant is read: with the rights of the tenant, and no more. */
export function asReaderOf({ prefix: _, notes, ...caller }: Principal, tenant: Tenant): Principal {
  return { ...caller, tenant, role: 'read', ...(tenant === caller.tenant && { notes }) };
}

/**
 * Identifies the principal among all of them: state that one keeps on the server, no other finds. Tokens may have the same name;
 * JWTs and certificates are renewed under theirs.
 */
export function ownerKey({ tenant, credential, credentialId, name }: Principal): string {
  return `${tenant}/${credential}/${credential === 'token' ? credentialId : name}`;
}

/** The tenant whose limits count for a request. Strangers have limits of their own, equal to those of the tenant they read. */
export function limitedAs({ tenant, credential }: Principal): string {
  return credential === 'anonymous' ? `${tenant} anonymous` : tenant;
}

/**
 * Queue of a request, whose first part has the shares: by tenant, then by name, then by connection. Strangers take turns by their
 * address. Without authentication the address stands for the tenant.
 */
export function laneOf(principal: Principal, address: string, connection: string): string {
  const { credential, name } = principal;
  if (credential === 'none') return `${networkOf(address)}#${connection}`;
  const caller = credential === 'anonymous' ? address : `${credential} ${name}`.replaceAll('#', '%23');
  return `${limitedAs(principal)}#${caller}#${connection}`;
}

const claimedLength = 16;

/**
 * Queue of a request whose caller is not known yet: by address, then by the credential that it claims to have, then by connection.
 * Behind one proxy, those with the same token then hold up only each other.
 */
export function laneOfUnknown(address: string, claimed: string | undefined, connection: string): string {
  return `${networkOf(address)}#${claimed?.slice(-claimedLength).replaceAll('#', '%23') ?? ''}#${connection}`;
}

/** A listener's facts about a caller. */
export interface Caller {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as received: Node drops a second `Authorization` from `headers`. */
  readonly rawHeaders?: readonly string[] | undefined;
  readonly address: string;
  /** The client certificate that the TLS handshake verified. */
  readonly certificate?: X509Certificate | undefined;
}

/** Identifies the caller; at once if the credential is known. Throws or rejects with `unauthenticated`, `forbidden` or `auth_unavailable`. */
export type Identify = (caller: Caller) => Principal | Promise<Principal>;
