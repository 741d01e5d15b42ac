import { isHandle } from './handle.ts';

declare const tenantBrand: unique symbol;

/** Whose frames they are. Each tenant has a namespace of handles of its own. */
export type Tenant = string & { readonly [tenantBrand]: true };

/** The tenant of every caller while there is no authentication. */
export const defaultTenant = 'default' as Tenant;

/** A tenant's name is the name of a folder, as a handle is. */
export function isTenant(text: string): text is Tenant {
  return isHandle(text);
}

/** Who is asking. */
export interface Principal {
  readonly tenant: Tenant;
}

/** Finds out who asks, from the headers of a request on either listener. */
export type Identify = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) => Principal;
