import type { X509Certificate } from 'node:crypto';
import { networkOf } from './address-counts.ts';
import type { RequestNotes } from './request-notes.ts';
import type { Span } from './span.ts';

declare const tenantBrand: unique symbol;

/** Whose frames they are. Each tenant has a namespace of handles of its own. */
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

/** Each may do what those before it may. An operator stands above all tenants. */
export const roles = ['read', 'write', 'admin', 'operator'] as const;

export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

export function hasRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** What a tenant may use. */
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

/** Who is asking. */
export interface Principal {
  readonly tenant: Tenant;
  readonly name: string;
  readonly role: Role;
  /** Only handles that begin so are theirs to see. */
  readonly prefix?: string | undefined;
  readonly credential: 'none' | 'anonymous' | 'token' | 'jwt' | 'certificate';
  /** Of the credential, for the audit; never the secret. */
  readonly credentialId?: string | undefined;
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Of the tenant. Undefined: there are none. */
  readonly limits?: TenantLimits | undefined;
  /** Of its request, where there is an audit. */
  readonly notes?: RequestNotes | undefined;
  /** Of its request, where that is traced. */
  readonly span?: Span | undefined;
}

/** The caller where a view of this tenant is read: with what the tenant may read, and no more. */
export function asReaderOf({ prefix: _, notes, ...caller }: Principal, tenant: Tenant): Principal {
  return { ...caller, tenant, role: 'read', ...(tenant === caller.tenant && { notes }) };
}

/**
 * Names the principal among all of them: what one keeps on the server, no other finds. Tokens may have the same name; JWTs and
 * certificates are renewed under theirs.
 */
export function ownerKey({ tenant, credential, credentialId, name }: Principal): string {
  return `${tenant}/${credential}/${credential === 'token' ? credentialId : name}`;
}

/** Whose limits a request counts for: its tenant's, and strangers have as much for themselves as the tenant that they read. */
export function limitedAs({ tenant, credential }: Principal): string {
  return credential === 'anonymous' ? `${tenant} anonymous` : tenant;
}

/**
 * In which turn of those who wait, and by its first part for whose share: by tenant, then by name, then by connection. Strangers take
 * turns by their address. Without authentication the address stands for the tenant.
 */
export function laneOf(principal: Principal, address: string, connection: string): string {
  const { credential, name } = principal;
  if (credential === 'none') return `${networkOf(address)}#${connection}`;
  const caller = credential === 'anonymous' ? address : `${credential} ${name}`.replaceAll('#', '%23');
  return `${limitedAs(principal)}#${caller}#${connection}`;
}

/** What a listener knows of a caller. */
export interface Caller {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as they came: Node drops a second `Authorization` from `headers`. */
  readonly rawHeaders?: readonly string[] | undefined;
  readonly address: string;
  /** The client certificate that the TLS handshake verified. */
  readonly certificate?: X509Certificate | undefined;
}

/** Finds out who asks; at once where the credential is known. Throws or rejects with `unauthenticated`, `forbidden` or `auth_unavailable`. */
export type Identify = (caller: Caller) => Principal | Promise<Principal>;
