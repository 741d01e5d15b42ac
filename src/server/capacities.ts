import type { Config } from '../config/config.ts';
import { FairShares } from '../core/async/fair-shares.ts';

/** What tenants share, at every door. */
export interface Capacities {
  /** For bodies and messages that are held whole, in bytes. */
  readonly memory: FairShares;
  /** Places for HTTP requests under way. */
  readonly requests: FairShares;
  /** Places for gRPC calls under way. */
  readonly calls: FairShares;
}

const leastMemoryBytes = 4 * 1024 * 1024;

/** Most drivers have one call under way on each. */
const callsPerConnection = 10;

export function openCapacities({ server, http, write }: Config): Capacities {
  return {
    memory: new FairShares({
      // Else the largest body, or an upload, could never come.
      units: Math.max(server.bodyMemoryBytes, 2 * write.maxBodyBytes, leastMemoryBytes),
      what: 'bytes of memory for bodies',
      hint: 'send less at once, or try again in a moment; the operator can raise server.body_memory',
    }),
    requests: placesForRequests(http.maxConcurrentRequests),
    calls: new FairShares({ units: callsPerConnection * server.maxConnections, what: 'places for calls' }),
  };
}

export function placesForRequests(most: number): FairShares {
  return new FairShares({ units: most, what: 'places for requests' });
}
