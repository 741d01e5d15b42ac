import {
  bool,
  bytes,
  int32,
  int64,
  map,
  message,
  nested,
  optionalBool,
  optionalBytes,
  optionalDouble,
  optionalSfixed64,
  optionalString,
  repeated,
  string,
  strings,
} from '../protobuf/proto-message.ts';

export const flightServiceName = 'arrow.flight.protocol.FlightService';

/** The messages of Arrow's Flight.proto. A descriptor inside another message stays bytes: it is passed on unchanged. */

export const HandshakeRequest = message({ protocolVersion: int64(1), payload: bytes(2) });
export const HandshakeResponse = message({ protocolVersion: int64(1), payload: bytes(2) });

export const Action = message({ type: string(1), body: bytes(2) });
export const ActionType = message({ type: string(1), description: string(2) });
export const Criteria = message({ expression: bytes(1) });
export const Result = message({ body: bytes(1) });
export const SchemaResult = message({ schema: bytes(1) });

export const descriptorType = { unknown: 0, path: 1, cmd: 2 } as const;
export const FlightDescriptor = message({ type: int32(1), cmd: bytes(2), path: strings(3) });

export const Timestamp = message({ seconds: int64(1), nanos: int32(2) });
export const Ticket = message({ ticket: bytes(1) });
export const Location = message({ uri: string(1) });
export const FlightEndpoint = message({
  ticket: nested(1, Ticket),
  location: repeated(2, Location),
  expirationTime: nested(3, Timestamp),
  appMetadata: bytes(4),
});
export const FlightInfo = message({
  /** Encapsulated: FFFFFFFF, length, flatbuffer. */
  schema: bytes(1),
  descriptor: optionalBytes(2),
  endpoint: repeated(3, FlightEndpoint),
  /** -1 = not known. */
  totalRecords: int64(4),
  totalBytes: int64(5),
  ordered: bool(6),
  appMetadata: bytes(7),
});

/** The number of the field, which is the last one of a message in practice. */
export const flightDataBody = 1000;
/** Only to be read: `flightData` writes it without copying the body. */
export const FlightData = message({
  descriptor: optionalBytes(1),
  /** A bare flatbuffer. */
  dataHeader: bytes(2),
  appMetadata: bytes(3),
  dataBody: bytes(flightDataBody),
});
export type FlightDataMessage = ReturnType<typeof FlightData.decode>;

export const PutResult = message({ appMetadata: bytes(1) });

export const cancelStatus = { unspecified: 0, cancelled: 1, cancelling: 2, notCancellable: 3 } as const;
/** The FlightInfo as bytes. */
export const CancelFlightInfoRequest = message({ info: bytes(1) });
export const CancelFlightInfoResult = message({ status: int32(1) });
export const RenewFlightEndpointRequest = message({ endpoint: nested(1, FlightEndpoint) });

const StringList = message({ values: strings(1) });
/** One of them, or none: then the option is to be removed. */
export const SessionOptionValue = message({
  string: optionalString(1),
  bool: optionalBool(2),
  int64: optionalSfixed64(3),
  double: optionalDouble(4),
  stringList: nested(5, StringList),
});
export const SetSessionOptionsRequest = message({ sessionOptions: map(1, SessionOptionValue) });
export const sessionError = { unspecified: 0, invalidName: 1, invalidValue: 2, error: 3 } as const;
const SessionError = message({ value: int32(1) });
export const SetSessionOptionsResult = message({ errors: map(1, SessionError) });
export const GetSessionOptionsResult = message({ sessionOptions: map(1, SessionOptionValue) });
export const closeStatus = { unspecified: 0, closed: 1, closing: 2, notCloseable: 3 } as const;
export const CloseSessionResult = message({ status: int32(1) });
