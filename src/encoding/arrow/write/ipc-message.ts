import { type FlatTable, flatbuffer, int8, int16, int64 } from './flatbuffer-writer.ts';

const metadataVersion5 = 4;
const headerTypes = { schema: 1, recordBatch: 3 } as const;
const prefixBytes = 8;

export interface IpcHeader {
  readonly kind: keyof typeof headerTypes;
  readonly table: FlatTable;
  readonly bodyBytes: number;
  /** What follows begins at a multiple of this, counted from the message's start. */
  readonly alignment: 8 | 64;
}

/** An encapsulated message of Arrow IPC, without its body: FFFFFFFF, length, flatbuffer, padding. */
export function ipcMessage({ kind, table, bodyBytes, alignment }: IpcHeader): Uint8Array {
  const header = flatbuffer({ fields: [int16(metadataVersion5), int8(headerTypes[kind]), table, int64(bodyBytes)] });
  const bytes = Math.ceil((prefixBytes + header.length) / alignment) * alignment;
  const message = new Uint8Array(bytes);
  const view = new DataView(message.buffer);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, bytes - prefixBytes, true);
  message.set(header, prefixBytes);
  return message;
}
