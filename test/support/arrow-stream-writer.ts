/**
 * Writes Arrow IPC streams byte by byte, for types that `apache-arrow` cannot write (views, wide decimals, deltas, broken
 * streams). Uses nothing of the code under test.
 */
export type FlatValue =
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | string
  | FlatObject
  | readonly FlatObject[]
  | { readonly items: readonly number[]; readonly bytes: 4 | 8 };
/** A flatbuffer table: slot number to value. */
export interface FlatObject {
  readonly [slot: number]: FlatValue;
}

export const i8 = (value: number): FlatValue => ({ bytes: 1, value });
export const i16 = (value: number): FlatValue => ({ bytes: 2, value });
export const i32 = (value: number): FlatValue => ({ bytes: 4, value });
export const i64 = (value: number): FlatValue => ({ bytes: 8, value });

export interface RawField {
  readonly name: string;
  /** Number of the type in the union `Type` of Arrow's Schema.fbs, and its table. */
  readonly type: readonly [number, FlatObject];
  readonly children?: readonly RawField[];
  readonly dictionary?: { readonly id: number; readonly bits: number; readonly signed: boolean };
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface RawBatch {
  readonly rows: number;
  /** Length and null count of each field, depth first. */
  readonly nodes: readonly (readonly [number, number])[];
  readonly buffers: readonly Uint8Array[];
  readonly viewedCounts?: readonly number[];
}

export const endOfStream = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

export function schemaMessage(fields: readonly RawField[], endianness = 0): Uint8Array {
  return message(1, { 0: i16(endianness), 1: fields.map(field) }, new Uint8Array(0));
}

export function batchMessage(batch: RawBatch, extra: FlatObject = {}): Uint8Array {
  const { header, body } = recordBatch(batch);
  return message(3, { ...header, ...extra }, body);
}

export function dictionaryMessage(id: number, batch: RawBatch, isDelta = false): Uint8Array {
  const { header, body } = recordBatch(batch);
  return message(2, { 0: i64(id), 1: header, 2: i8(isDelta ? 1 : 0) }, body);
}

export function message(
  kind: number,
  header: FlatObject,
  body: Uint8Array,
  version = 4,
  claimedBodyBytes = body.length,
): Uint8Array {
  const metadata = flatbuffer({ 0: i16(version), 1: i8(kind), 2: header, 3: i64(claimedBodyBytes) });
  const padded = Math.ceil(metadata.length / 8) * 8;
  const out = Buffer.alloc(8 + padded + body.length);
  out.writeUInt32LE(0xffff_ffff, 0);
  out.writeInt32LE(padded, 4);
  out.set(metadata, 8);
  out.set(body, 8 + padded);
  return out;
}

function field({ name, type, children = [], dictionary, metadata }: RawField): FlatObject {
  return {
    0: name,
    1: i8(1),
    2: i8(type[0]),
    3: type[1],
    ...(dictionary && {
      4: { 0: i64(dictionary.id), 1: { 0: i32(dictionary.bits), 1: i8(dictionary.signed ? 1 : 0) } },
    }),
    5: children.map(field),
    ...(metadata && { 6: Object.entries(metadata).map(([key, value]) => ({ 0: key, 1: value })) }),
  };
}

function recordBatch({ rows, nodes, buffers, viewedCounts }: RawBatch): { header: FlatObject; body: Uint8Array } {
  const places: number[] = [];
  let at = 0;
  for (const { byteLength } of buffers) {
    places.push(at, byteLength);
    at += Math.ceil(byteLength / 8) * 8;
  }
  const body = new Uint8Array(at);
  buffers.forEach((bytes, index) => {
    body.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), places[index * 2]);
  });
  const header: FlatObject = {
    0: i64(rows),
    1: { items: nodes.flat(), bytes: 8 },
    2: { items: places, bytes: 8 },
    ...(viewedCounts && { 4: { items: viewedCounts, bytes: 8 } }),
  };
  return { header: markPairs(header), body };
}

/** Nodes and buffers are vectors of structs of two int64: their count is half that of the numbers. */
const pairs = new WeakSet<object>();
function markPairs(header: FlatObject): FlatObject {
  for (const slot of [1, 2]) pairs.add(header[slot] as object);
  return header;
}

function flatbuffer(root: FlatObject): Uint8Array {
  const out: number[] = [0, 0, 0, 0];
  put(out, 0, 4, table(out, root));
  return Uint8Array.from(out);
}

function table(out: number[], object: FlatObject): number {
  const slots = Object.keys(object).map(Number);
  const vtable = out.length;
  const vtableBytes = 4 + (slots.length === 0 ? 0 : (Math.max(...slots) + 1) * 2);
  grow(out, vtableBytes);
  const start = out.length;
  grow(out, 4);
  put(out, start, 4, start - vtable);
  const later: [number, FlatValue][] = [];
  for (const slot of slots) {
    const value = object[slot] as FlatValue;
    const at = out.length;
    put(out, vtable + 4 + slot * 2, 2, at - start);
    if (typeof value === 'object' && 'value' in value) {
      const { bytes, value: number } = value as { bytes: number; value: number };
      grow(out, bytes);
      put(out, at, bytes, number);
    } else {
      grow(out, 4);
      later.push([at, value]);
    }
  }
  put(out, vtable, 2, vtableBytes);
  put(out, vtable + 2, 2, out.length - start);
  for (const [at, value] of later) put(out, at, 4, outOfLine(out, value) - at);
  return start;
}

function outOfLine(out: number[], value: FlatValue): number {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    const at = out.length;
    grow(out, 4);
    put(out, at, 4, bytes.length);
    out.push(...bytes, 0);
    return at;
  }
  if (Array.isArray(value)) {
    const at = out.length;
    grow(out, 4 + value.length * 4);
    put(out, at, 4, value.length);
    value.forEach((item: FlatObject, index) => {
      const place = at + 4 + index * 4;
      put(out, place, 4, table(out, item) - place);
    });
    return at;
  }
  if ('items' in value) {
    const { items, bytes } = value as { items: readonly number[]; bytes: 4 | 8 };
    const at = out.length;
    grow(out, 4 + items.length * bytes);
    put(out, at, 4, pairs.has(value) ? items.length / 2 : items.length);
    items.forEach((item, index) => {
      put(out, at + 4 + index * bytes, bytes, item);
    });
    return at;
  }
  return table(out, value as FlatObject);
}

function grow(out: number[], bytes: number): void {
  for (let n = 0; n < bytes; n++) out.push(0);
}

function put(out: number[], at: number, bytes: number, value: number): void {
  let rest = BigInt.asUintN(64, BigInt(value));
  for (let n = 0; n < bytes; n++, rest >>= 8n) out[at + n] = Number(rest & 255n);
}
