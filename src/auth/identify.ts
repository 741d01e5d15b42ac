import { defaultTenant, type Identify, type Principal } from '../core/principal.ts';

/** Every caller, as there is no authentication yet. */
export const anonymous: Principal = { tenant: defaultTenant };

export const identify: Identify = () => anonymous;
