import type { Column, DataType, Vector } from '@framehold/columns';
import { arrowFile as indexed } from '#client/node/arrow-writer.ts';
import {
  batchMessage,
  endOfStream,
  type FlatObject,
  i8,
  i16,
  i32,
  type RawField,
  schemaMessage,
} from './arrow-stream-writer.ts';
import { vectorOf } from './vector-of.ts';

/** The messages of a table: its schema, then batches of `batchRows`. */
export function arrowMessages(
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
  batchRows = 1000,
): Uint8Array[] {
  const messages = [schemaMessage(columns.map(fieldOf))];
  for (let from = 0; from < rows.length; from += batchRows) {
    messages.push(batchMessage(batchOf(columns, rows.slice(from, from + batchRows))));
  }
  return messages;
}

export function arrowStream(messages: readonly Uint8Array[]): Buffer {
  return Buffer.concat([...messages, endOfStream]);
}

/** With an index of the batches, as the client writes it. */
export async function arrowFile(messages: readonly Uint8Array[]): Promise<Buffer> {
  async function* parts(): AsyncGenerator<{ header: Uint8Array; body: Uint8Array }> {
    for (const message of messages) {
      const bodyAt = 8 + Buffer.from(message).readInt32LE(4);
      yield { header: message.subarray(8, bodyAt), body: message.subarray(bodyAt) };
    }
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of indexed(parts())) pieces.push(piece);
  return Buffer.concat(pieces);
}

const extension = (name: string): Pick<RawField, 'metadata'> => ({ metadata: { 'ARROW:extension:name': name } });
const units = { s: 0, ms: 1, us: 2, ns: 3 } as const;

function fieldOf({ name, type }: Column): RawField {
  const field = (id: number, table: FlatObject = {}, children: readonly Column[] = []): RawField => ({
    name,
    type: [id, table],
    children: children.map(fieldOf),
  });
  switch (type.kind) {
    case 'null':
      return field(1);
    case 'int':
      return field(2, { 0: i32(type.bits), 1: i8(type.signed ? 1 : 0) });
    case 'float':
      return field(3, { 0: i16(type.bits === 32 ? 1 : 2) });
    case 'binary':
      return field(4);
    case 'utf8':
      return field(5);
    case 'json':
      return { ...field(5), ...extension('arrow.json') };
    case 'boolean':
      return field(6);
    case 'decimal':
      return field(7, { 0: i32(type.precision), 1: i32(type.scale), 2: i32(128) });
    case 'date':
      return field(8, { 0: i16(0) });
    case 'time':
      return field(9, { 0: i16(units[type.unit]), 1: i32(64) });
    case 'timestamp':
      return field(10, { 0: i16(units[type.unit]), ...(type.zoned && { 1: 'UTC' }) });
    case 'interval':
      return field(11, { 0: i16(2) });
    case 'list':
      return field(12, {}, [{ name: 'item', type: type.element }]);
    case 'struct':
      return field(13, {}, type.fields);
    case 'union':
      return field(14, { 0: i16(0), 1: { items: type.members.map((_, i) => i), bytes: 4 } }, type.members);
    case 'uuid':
      return { ...field(15, { 0: i32(16) }), ...extension('arrow.uuid') };
    case 'array':
      return field(16, { 0: i32(type.size) }, [{ name: 'item', type: type.element }]);
    case 'map':
      return field(17, {}, [{ name: 'entries', type: entriesOf(type) }]);
    default:
      return type satisfies never;
  }
}

function entriesOf({ key, value }: Extract<DataType, { kind: 'map' }>): DataType {
  const fields = [
    { name: 'key', type: key },
    { name: 'value', type: value },
  ];
  return { kind: 'struct', fields };
}

function batchOf(
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): Parameters<typeof batchMessage>[0] {
  const nodes: [number, number][] = [];
  const buffers: Uint8Array[] = [];
  const none = new Uint8Array(0);
  const bytes = (view: ArrayBufferView | null): Uint8Array =>
    view === null ? none : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const add = (vector: Vector): void => {
    const { type, length } = vector;
    nodes.push([length, type.kind === 'null' ? length : type.kind === 'union' ? 0 : nullsIn(vector)]);
    if (type.kind === 'null') return;
    if (type.kind !== 'union') buffers.push(bytes(vector.validity));
    if (type.kind === 'uuid') buffers.push(uuidBytes(vector));
    else {
      if (vector.offsets !== null) buffers.push(bytes(vector.offsets));
      if (vector.data !== null) buffers.push(bytes(vector.data));
    }
    for (const child of vector.children) add(child);
  };
  columns.forEach(({ type }, i) => {
    add(
      vectorOf(
        type,
        rows.map((row) => row[i]),
      ),
    );
  });
  return { rows: rows.length, nodes, buffers };
}

function nullsIn({ validity, length }: Vector): number {
  let nulls = 0;
  if (validity !== null) for (let i = 0; i < length; i++) if ((((validity[i >> 3] ?? 0) >> (i & 7)) & 1) === 0) nulls++;
  return nulls;
}

function uuidBytes({ offsets, data, length }: Vector): Uint8Array {
  const out = Buffer.alloc(length * 16);
  for (let i = 0; i < length; i++) {
    const text = Buffer.from((data as Uint8Array).subarray(offsets?.[i], offsets?.[i + 1])).toString();
    out.write(text.replaceAll('-', ''), i * 16, 'hex');
  }
  return out;
}
