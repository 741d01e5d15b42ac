import { CodedError } from '@framehold/columns';
import { bytes, message, string } from '@framehold/grpc';

const AnyMessage = message({ typeUrl: string(1), value: bytes(2) });

const packageName = 'arrow.flight.protocol.sql.';
const typeUrlPrefix = `type.googleapis.com/${packageName}`;

/** A Flight SQL message by its name, e.g. `CommandGetTables`. */
export interface SqlMessage {
  readonly name: string;
  readonly value: Uint8Array;
}

/** Flight SQL wraps its commands, tickets and action bodies in `google.protobuf.Any`. */
export function packAny(name: string, value: Uint8Array): Uint8Array {
  return AnyMessage.encode({ typeUrl: typeUrlPrefix + name, value });
}

/** Undefined if the bytes are no Flight SQL message: another program's path, a frame's ticket, plain SQL text. */
export function unpackAny(packed: Uint8Array): SqlMessage | undefined {
  // Looked for first: to find out by an error that text is no message takes longer than all the rest.
  if (!Buffer.from(packed.buffer, packed.byteOffset, packed.length).includes(packageName)) return undefined;
  const any = decodeIfAny(packed);
  if (any === undefined) return undefined;
  // Everything before the last slash is free to be chosen by the sender.
  const type = any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1);
  return type.startsWith(packageName) ? { name: type.slice(packageName.length), value: any.value } : undefined;
}

function decodeIfAny(packed: Uint8Array): ReturnType<typeof AnyMessage.decode> | undefined {
  try {
    return AnyMessage.decode(packed);
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}
