import { defaultTenant, type Principal, type Tenant } from '../../src/core/callers/principal.ts';

/** A caller with every right in its tenant. */
export function principalOf(tenant: string = defaultTenant, more: Partial<Principal> = {}): Principal {
  const { name = 'test' } = more;
  return { tenant: tenant as Tenant, role: 'admin', credential: 'token', credentialId: `id of ${name}`, name, ...more };
}
