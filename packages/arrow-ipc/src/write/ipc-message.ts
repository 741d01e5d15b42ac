import { type FlatTable, flatbuffer, flatbufferSteps, flatInt8, flatInt16, flatInt64 } from './flatbuffer-writer.ts';

const metadataVersion5 = 4;
const headerTypes = { schema: 1, recordBatch: 3 } as const;
const prefixBytes = 8;

export interface IpcHeader {
  readonly kind: keyof typeof headerTypes;
  readonly table: FlatTable;
  readonly bodyBytes: number;
  /** The body begins at a multiple of this, counted from the message's start. */
  readonly alignment: 8 | 64;
}

export interface MessageParts {
  /** The flatbuffer, perhaps with its padding. */
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** An encapsulated message of Arrow IPC, without its body. */
export function ipcMessage(header: IpcHeader): Uint8Array {
  return encapsulated(flatbuffer(messageTable(header)), header.alignment);
}

/** The same in steps, between which others may have their turn. */
export function* ipcMessageSteps(header: IpcHeader): Generator<void, Uint8Array, void> {
  return encapsulated(yield* flatbufferSteps(messageTable(header)), header.alignment);
}

function messageTable({ kind, table, bodyBytes }: IpcHeader): FlatTable {
  return { fields: [flatInt16(metadataVersion5), flatInt8(headerTypes[kind]), table, flatInt64(bodyBytes)] };
}

/** The head of a message: FFFFFFFF, length, flatbuffer, padding. */
export function encapsulated(header: Uint8Array, alignment: 8 | 64): Uint8Array {
  const bytes = Math.ceil((prefixBytes + header.length) / alignment) * alignment;
  const message = new Uint8Array(bytes);
  const view = new DataView(message.buffer);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, bytes - prefixBytes, true);
  message.set(header, prefixBytes);
  return message;
}

/** Views of the two fields of Flight: `data_header` and `data_body` of an encapsulated message. */
export function splitMessage(message: Uint8Array): MessageParts {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const bodyAt = prefixBytes + view.getUint32(4, true);
  return { header: message.subarray(prefixBytes, bodyAt), body: message.subarray(bodyAt) };
}
