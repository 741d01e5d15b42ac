import { schemaMessage } from '@framehold/arrow-ipc';
import { FlightInfo } from '@framehold/grpc/flight';

export interface InfoParts {
  /** Encapsulated. */
  readonly schema: Uint8Array;
  readonly ticket: Uint8Array;
  /** Undefined: not known. */
  readonly records?: number | undefined;
}

/** Schema of a statement without rows. */
export const emptySchema = schemaMessage([]);

/** One endpoint without a location, which means this server: every client can follow that. */
export function flightInfo(descriptor: Uint8Array, { schema, ticket, records = -1 }: InfoParts): Uint8Array {
  return FlightInfo.encode({
    schema,
    descriptor,
    endpoint: [{ ticket: { ticket }, location: [], expirationTime: undefined, appMetadata: new Uint8Array(0) }],
    totalRecords: BigInt(records),
    totalBytes: -1n,
  });
}
