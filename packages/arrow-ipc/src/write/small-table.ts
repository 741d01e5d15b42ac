import { joinBytes, paddedLength } from '@framehold/columns';
import type { ArrowField } from '../types/arrow-field.ts';
import { valueBytes } from '../types/arrow-type.ts';
import { BodyLayout } from './body-layout.ts';

const encoder = new TextEncoder();

/**
 * A record batch message of plain values: strings, Uint8Arrays, booleans, numbers or bigints; [months, days,
 * nanoseconds] for intervals; arrays for lists; objects by field name for structs; Maps or entries for maps;
 * `{ member, value }` for unions; null. For a few rows.
 */
export function arrowTable(fields: readonly ArrowField[], rows: readonly (readonly unknown[])[]): Uint8Array {
  const body = new BodyLayout();
  for (const [index, field] of fields.entries()) {
    writeColumn(
      body,
      field,
      rows.map((row) => row[index]),
    );
  }
  return joinBytes(body.message(rows.length));
}

function writeColumn(body: BodyLayout, field: ArrowField, values: readonly unknown[]): void {
  const { type, children } = field;
  if (type.kind === 'union') {
    writeUnion(body, field, values.map(memberOf));
    return;
  }
  const nulls = values.filter(isNull).length;
  body.node(values.length, nulls);
  if (type.kind === 'null') return;
  if (nulls > 0 && !field.nullable) throw new TypeError(`null in the column "${field.name}", which allows none`);
  if (nulls === 0) body.emptyBuffer();
  else writeBytes(body, bitsOf(values.map((value) => !isNull(value))));
  const [element] = children;

  switch (type.kind) {
    case 'bool':
      writeBytes(body, bitsOf(values.map((value) => value === true)));
      return;
    case 'bytes': {
      const parts = values.map((value) => bytesOf(field, value));
      writeOffsets(body, parts);
      writeBytes(body, joinBytes(parts));
      return;
    }
    case 'fixedBytes':
      writeBytes(body, joinBytes(values.map((value) => fixedBytes(field, type.width, value))));
      return;
    case 'list':
    case 'map': {
      const lists = values.map((value) => (type.kind === 'map' ? entriesOf(value) : ((value ?? []) as unknown[])));
      writeOffsets(body, lists);
      writeColumn(body, element as ArrowField, lists.flat(1));
      return;
    }
    case 'fixedList': {
      const empty: null[] = new Array(type.size).fill(null);
      writeColumn(
        body,
        element as ArrowField,
        values.flatMap((value) => (value ?? empty) as unknown[]),
      );
      return;
    }
    case 'struct':
      for (const child of children) {
        writeColumn(
          body,
          child,
          values.map((value) => (value as Record<string, unknown> | null)?.[child.name] ?? null),
        );
      }
      return;
    default:
      writeBytes(body, numbersOf(field, values));
      return;
  }
}

interface Member {
  readonly member: number;
  readonly value: unknown;
}

function memberOf(value: unknown): Member {
  return isNull(value) ? { member: 0, value: null } : (value as Member);
}

function writeUnion(body: BodyLayout, { type, children }: ArrowField, values: readonly Member[]): void {
  if (type.kind !== 'union') return;
  body.node(values.length, 0);
  writeBytes(
    body,
    Uint8Array.from(values, ({ member }) => type.typeIds[member] as number),
  );
  if (!type.dense) {
    for (const [index, child] of children.entries()) {
      writeColumn(
        body,
        child,
        values.map(({ member, value }) => (member === index ? value : null)),
      );
    }
    return;
  }
  const counts = children.map(() => 0);
  const places = values.map(({ member }) => {
    const place = counts[member] as number;
    counts[member] = place + 1;
    return place;
  });
  writeBytes(body, new Uint8Array(Int32Array.from(places).buffer));
  for (const [index, child] of children.entries()) {
    writeColumn(
      body,
      child,
      values.filter(({ member }) => member === index).map(({ value }) => value),
    );
  }
}

function numbersOf({ name, type }: ArrowField, values: readonly unknown[]): Uint8Array {
  const width = valueBytes(type);
  const view = new DataView(new ArrayBuffer(values.length * width));
  for (const [index, value] of values.entries()) {
    if (isNull(value)) continue;
    const at = index * width;
    if (type.kind === 'float' && width === 8) view.setFloat64(at, Number(value), true);
    else if (type.kind === 'float') view.setFloat32(at, Number(value), true);
    else if (type.kind === 'interval') {
      const [months, days, nanoseconds] = value as readonly [number, number, bigint];
      view.setInt32(at, months, true);
      view.setInt32(at + 4, days, true);
      view.setBigInt64(at + 8, nanoseconds, true);
    } else if (typeof value === 'number' || typeof value === 'bigint') setInteger(view, at, width, BigInt(value));
    else throw new TypeError(`${typeof value} in the column "${name}" of ${type.kind}`);
  }
  return new Uint8Array(view.buffer);
}

function setInteger(view: DataView, at: number, width: number, value: bigint): void {
  for (let byte = 0; byte < width; byte++) view.setUint8(at + byte, Number((value >> BigInt(8 * byte)) & 255n));
}

function bytesOf({ name, type }: ArrowField, value: unknown): Uint8Array {
  if (isNull(value)) return new Uint8Array(0);
  if (typeof value === 'string') return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`${typeof value} in the column "${name}" of ${type.kind}`);
}

function fixedBytes(field: ArrowField, width: number, value: unknown): Uint8Array {
  const bytes = isNull(value) ? new Uint8Array(width) : bytesOf(field, value);
  if (bytes.length !== width) throw new RangeError(`${bytes.length} bytes in the column "${field.name}" of ${width}`);
  return bytes;
}

function entriesOf(value: unknown): { readonly key: unknown; readonly value: unknown }[] {
  const entries = (value ?? []) as Iterable<readonly [unknown, unknown]>;
  return Array.from(entries, ([key, value]) => ({ key, value }));
}

function bitsOf(values: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
  return bits;
}

function writeOffsets(body: BodyLayout, parts: readonly { readonly length: number }[]): void {
  const offsets = new Int32Array(parts.length + 1);
  for (const [index, part] of parts.entries()) offsets[index + 1] = (offsets[index] as number) + part.length;
  writeBytes(body, new Uint8Array(offsets.buffer));
}

function writeBytes(body: BodyLayout, bytes: Uint8Array): void {
  const padded = new Uint8Array(paddedLength(bytes.length));
  padded.set(bytes);
  body.buffer(padded, bytes.length);
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}
