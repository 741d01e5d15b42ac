import type { Call as GrpcCall } from '@framehold/grpc';
import type { Principal } from '../core/callers/principal.ts';

/** A call of Flight, as its handler sees it. */
export type Call = GrpcCall<Principal>;
