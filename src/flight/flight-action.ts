import type { ActionDescription } from './flight-sql-port.ts';
import type { Call } from './method.ts';

/** An action that answers with one result. */
export interface FlightAction extends ActionDescription {
  /** Gives the body of the result. */
  run(body: Uint8Array, call: Call): Promise<Uint8Array>;
}
