/** A message of Arrow IPC as Flight sends it: the flatbuffer, and what it describes. */
export interface ArrowMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

export const messageKind = { schema: 1, dictionary: 2, batch: 3 } as const;

const headerType = 1;
const headerTable = 2;
const bodyLength = 3;
/** Of the table of a record batch. */
const batchLength = 0;

/** What a message's flatbuffer says of it. Undefined where it is no such flatbuffer. */
export interface MessageFacts {
  readonly kind: number;
  /** Where in the flatbuffer the table of the schema or batch begins. */
  readonly tableAt: number;
  readonly bodyBytes: number;
  /** Of a record batch; 0 of anything else. */
  readonly rows: number;
}

export function messageFacts(header: Uint8Array): MessageFacts | undefined {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  try {
    const root = view.getUint32(0, true);
    const typeAt = fieldAt(view, root, headerType);
    const offsetAt = fieldAt(view, root, headerTable);
    if (typeAt === undefined || offsetAt === undefined) return undefined;
    const kind = view.getUint8(typeAt);
    const tableAt = offsetAt + view.getUint32(offsetAt, true);
    const bodyBytes = longAt(view, fieldAt(view, root, bodyLength));
    const rows = kind === messageKind.batch ? longAt(view, fieldAt(view, tableAt, batchLength)) : 0;
    return bodyBytes < 0 || rows < 0 ? undefined : { kind, tableAt, bodyBytes, rows };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Where in the flatbuffer a table's field is; undefined where it has its default. */
function fieldAt(view: DataView, table: number, field: number): number | undefined {
  const vtable = table - view.getInt32(table, true);
  const slot = 4 + 2 * field;
  const offset = slot < view.getUint16(vtable, true) ? view.getUint16(vtable + slot, true) : 0;
  return offset === 0 ? undefined : table + offset;
}

function longAt(view: DataView, at: number | undefined): number {
  return at === undefined ? 0 : Number(view.getBigInt64(at, true));
}
