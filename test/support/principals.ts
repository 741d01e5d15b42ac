import { defaultTenant, type Principal, type Tenant } from '../../src/core/principal.ts';

/** A caller with every right in its tenant. */
export function principalOf(tenant: string = defaultTenant, more: Partial<Principal> = {}): Principal {
  return { tenant: tenant as Tenant, name: 'test', role: 'admin', credential: 'token', ...more };
}
