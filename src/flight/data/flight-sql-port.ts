import type { Message, Messages } from '@framehold/grpc';
import type { FlightDataMessage } from '@framehold/grpc/flight';
import type { Call } from '../call.ts';

/** An upload whose first message has arrived. */
export interface FlightUpload {
  /** Carries the descriptor, and mostly the schema. */
  readonly first: FlightDataMessage;
  /** The whole upload, with the first message, as an Arrow IPC stream with its end mark. Can be read once, or not at all. */
  ipcStream(): AsyncIterable<Uint8Array>;
  /** Counts bytes of the upload that are held until the call ends. Rejects with `overloaded` where there is no memory for them. */
  keep(bytes: number): Promise<void>;
  /** Of the messages in `ipcStream` so far. */
  readonly counts: { readonly columns: number; readonly rows: number };
  /**
   * The client's own metadata: of the first message, of one that has nothing else, or of the first batch. pyarrow cannot send it
   * any earlier. Must be read before `ipcStream`.
   */
  metadata(): Promise<Uint8Array>;
}

export interface ActionDescription {
  readonly type: string;
  readonly description: string;
}

/**
 * The Flight SQL part of Flight. For bytes that are not its own (no Any of a Flight SQL message) it returns undefined, at once;
 * it rejects on faults in its own.
 */
export interface FlightSqlHandler {
  /** `descriptor` is the whole FlightDescriptor, to be echoed. Gives a FlightInfo. */
  getFlightInfo(command: Uint8Array, descriptor: Uint8Array, call: Call): Promise<Uint8Array> | undefined;
  /** For a statement that is the command itself. Only if it reads. */
  getFlightInfoOfSql(sql: string, descriptor: Uint8Array, call: Call): Promise<Uint8Array>;
  /** Gives an encapsulated schema message. */
  getSchema(command: Uint8Array, call: Call): Promise<Uint8Array> | undefined;
  getSchemaOfSql(sql: string, call: Call): Promise<Uint8Array>;
  /** FlightData messages, the schema first. */
  doGet(ticket: Uint8Array, call: Call): AsyncIterable<Message> | Promise<Messages> | undefined;
  /** FlightData messages of a statement that stands in the ticket itself. */
  doGetSql(sql: string, call: Call): Promise<Messages>;
  /** Gives PutResult messages. */
  doPut(command: Uint8Array, upload: FlightUpload, call: Call): AsyncIterable<Message> | undefined;
  readonly actions: readonly ActionDescription[];
  /** Gives Result messages. Asked for CancelFlightInfo and RenewFlightEndpoint too: undefined when the ticket is not its own. */
  doAction(type: string, body: Uint8Array, call: Call): Promise<readonly Message[]> | undefined;
}

/** An action that answers with one result. */
export interface FlightAction extends ActionDescription {
  /** Gives the body of the result. */
  run(body: Uint8Array, call: Call): Promise<Uint8Array>;
}
