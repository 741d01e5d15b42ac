import type { Config } from '../config/config.ts';
import { FairShares } from '../core/async/fair-shares.ts';

/** The resources that tenants share, over HTTP and Flight. */
export interface Capacities {
  /** For bodies and messages that are held whole, and returned rows, in bytes. */
  readonly memory: FairShares;
  /** Places for running HTTP requests. */
  readonly requests: FairShares;
  /** Places for running gRPC calls. */
  readonly calls: FairShares;
}

const leastMemoryBytes = 4 * 1024 * 1024;

/** The client of a body waits for so long, unread, while others hold the memory. */
const bodyWaitMs = 5000;

/** A request or a call waits for so long for a place that its tenant should have. */
const placeWaitMs = 2000;

/** Most drivers have one running call on each. */
const callsPerConnection = 10;

export function openCapacities({ server, http, write }: Config): Capacities {
  return {
    memory: new FairShares({
      // Otherwise the largest body, or an upload, could never be received.
      units: Math.max(server.bodyMemoryBytes, 2 * write.maxBodyBytes, leastMemoryBytes),
      what: 'bytes of memory for bodies',
      waitMs: bodyWaitMs,
      hint: 'send less at once, or try again in a moment; the operator can raise server.body_memory',
    }),
    requests: placesForRequests(http.maxConcurrentRequests),
    calls: new FairShares({
      units: callsPerConnection * server.maxConnections,
      what: 'places for calls',
      waitMs: placeWaitMs,
    }),
  };
}

export function placesForRequests(most: number): FairShares {
  return new FairShares({ units: most, what: 'places for requests', waitMs: placeWaitMs });
}
