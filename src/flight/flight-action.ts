import type { Call } from '../grpc/server/method.ts';
import type { ActionDescription } from './data/flight-sql-port.ts';

/** An action that answers with one result. */
export interface FlightAction extends ActionDescription {
  /** Gives the body of the result. */
  run(body: Uint8Array, call: Call): Promise<Uint8Array>;
}
