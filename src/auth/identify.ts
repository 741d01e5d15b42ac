import { defaultTenant, type Identify, type Principal } from '../core/callers/principal.ts';

/** Every caller, where there is no authentication. */
export const anonymous: Principal = { tenant: defaultTenant, name: 'anonymous', role: 'operator', credential: 'none' };

export const identify: Identify = () => anonymous;
