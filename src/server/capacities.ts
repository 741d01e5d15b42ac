import type { Config } from '../config/config.ts';
import { FairShares } from '../core/async/fair-shares.ts';

/** What tenants share, at every door. */
export interface Capacities {
  /** For bodies and messages that are held whole, in bytes. */
  readonly memory: FairShares;
}

export function openCapacities({ server, write }: Config): Capacities {
  return {
    memory: new FairShares({
      // Else the largest body could never come.
      units: Math.max(server.bodyMemoryBytes, 2 * write.maxBodyBytes),
      what: 'bytes of memory for bodies',
      hint: 'send less at once, or try again in a moment; the operator can raise server.body_memory',
    }),
  };
}
