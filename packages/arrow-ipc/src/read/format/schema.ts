import { CodedError } from '@framehold/columns';
import type { ArrowInt, ArrowType } from '../../types/arrow-type.ts';
import { type FlatbufferTable, InvalidArrow } from './flatbuffer-reader.ts';

/** A field of a schema that anybody may have sent. */
export interface ReceivedField {
  readonly name: string;
  /** Names the column, and the field in it, for an error. */
  readonly label: string;
  /** Type of the values, if they are dictionary-encoded. */
  readonly type: ArrowType;
  readonly children: readonly ReceivedField[];
  readonly extension: string | undefined;
  /** The SQL type that the sender says it is, as our own schemas do. */
  readonly sqlType: string | undefined;
  readonly dictionary: { readonly id: number; readonly index: ArrowInt } | undefined;
}

export function isUuid({ type, extension }: ReceivedField): boolean {
  return type.kind === 'fixedBytes' && type.width === 16 && extension === 'arrow.uuid';
}

/** Whether it holds text, or lists of text. */
export function isTextField({ type, children: [element] }: ReceivedField): boolean {
  if (type.kind === 'list') return element !== undefined && isTextField(element);
  return (type.kind === 'bytes' || type.kind === 'view') && type.text;
}

export function unsupported({ label }: Pick<ReceivedField, 'label'>, what: string, hint?: string): CodedError {
  return new CodedError('unsupported_type', `${label} holds ${what}, which is not accepted`, { hint });
}

const littleEndian = 0;
const maxDepth = 64;
const maxFields = 20_000;
const timeUnits = ['s', 'ms', 'us', 'ns'] as const;
const childCounts: Readonly<Partial<Record<ArrowType['kind'], number>>> = { list: 1, fixedList: 1, map: 1 };

export function readSchema(header: FlatbufferTable): ReceivedField[] {
  if (header.int16(0) !== littleEndian) throw new InvalidArrow('its values are big-endian; send little-endian ones');
  const budget = { fields: maxFields };
  const fields = header.tables(1).map((table) => readField(table, undefined, 1, budget));
  if (fields.length === 0) throw new InvalidArrow('its schema has no columns');
  return fields;
}

function readField(
  table: FlatbufferTable,
  parent: string | undefined,
  depth: number,
  budget: { fields: number },
): ReceivedField {
  // Offsets in a flatbuffer can share a table, so that few bytes unfold into a vast tree.
  if (--budget.fields < 0) throw new InvalidArrow(`its schema has more than ${maxFields} fields`);
  if (depth > maxDepth) throw new InvalidArrow(`its schema is nested more than ${maxDepth} deep`);
  const name = table.string(0) ?? '';
  const label = parent === undefined ? `column ${JSON.stringify(name)}` : `${parent}, field ${JSON.stringify(name)}`;
  const children = table.tables(5).map((child) => readField(child, label, depth + 1, budget));
  const type = readType(table.uint8(2), table.table(3), label, children.length);
  const field = {
    name,
    label,
    type,
    children,
    extension: readMetadata(table, 'ARROW:extension:name'),
    sqlType: readMetadata(table, 'ARROW:FLIGHT:SQL:TYPE_NAME'),
    dictionary: readDictionary(table, label),
  };
  checkChildren(field);
  return field;
}

function checkChildren({ type, children, label }: ReceivedField): void {
  if (type.kind === 'union') {
    if (children.length !== type.typeIds.length) throw new InvalidArrow(`${label} has not a type id for each member`);
    return;
  }
  if (type.kind === 'struct') return;
  if (children.length !== (childCounts[type.kind] ?? 0)) {
    throw new InvalidArrow(`${label} of type ${type.kind} has ${children.length} children`);
  }
  if (type.kind !== 'map') return;
  const entries = children[0];
  if (entries?.type.kind !== 'struct' || entries.children.length !== 2 || entries.dictionary !== undefined) {
    throw new InvalidArrow(`${label} is a map whose entries are not pairs of key and value`);
  }
}

function readDictionary(table: FlatbufferTable, label: string): ReceivedField['dictionary'] {
  const encoding = table.table(4);
  if (encoding === undefined) return undefined;
  const index = encoding.table(1);
  return {
    id: encoding.int64(0),
    index: index === undefined ? { kind: 'int', bits: 32, signed: true } : readInt(index, label),
  };
}

function readMetadata(table: FlatbufferTable, key: string): string | undefined {
  return table
    .tables(6)
    .find((pair) => pair.string(0) === key)
    ?.string(1);
}

function readInt(table: FlatbufferTable, label: string): ArrowInt {
  const bits = table.int32(0);
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) {
    throw new InvalidArrow(`${label} has integers of ${bits} bits`);
  }
  return { kind: 'int', bits, signed: table.bool(1) };
}

function readType(id: number, table: FlatbufferTable | undefined, label: string, childCount: number): ArrowType {
  if (table === undefined) throw new InvalidArrow(`${label} has no type`);
  switch (id) {
    case 1:
      return { kind: 'null' };
    case 2:
      return readInt(table, label);
    case 3:
      return { kind: 'float', bits: pick([16, 32, 64] as const, table.int16(0), label) };
    case 4:
      return { kind: 'bytes', text: false, large: false };
    case 5:
      return { kind: 'bytes', text: true, large: false };
    case 6:
      return { kind: 'bool' };
    case 7:
      return { kind: 'decimal', precision: table.int32(0), scale: table.int32(1), bits: table.int32(2, 128) };
    case 8:
      return { kind: 'date', unit: pick(['day', 'ms'] as const, table.int16(0, 1), label) };
    case 9: {
      const unit = pick(timeUnits, table.int16(0, 1), label);
      if (table.int32(1, 32) !== (unit === 's' || unit === 'ms' ? 32 : 64)) {
        throw new InvalidArrow(`${label} is a time whose unit and width do not fit`);
      }
      return { kind: 'time', unit };
    }
    case 10:
      return { kind: 'timestamp', unit: pick(timeUnits, table.int16(0), label), zoned: (table.string(1) ?? '') !== '' };
    case 11:
      return { kind: 'interval', unit: pick(['month', 'dayTime', 'monthDayNano'] as const, table.int16(0), label) };
    case 12:
      return { kind: 'list', large: false };
    case 13:
      return { kind: 'struct' };
    case 14:
      return readUnion(table, label, childCount);
    case 15:
      return { kind: 'fixedBytes', width: atLeastZero(table.int32(0), label) };
    case 16:
      return { kind: 'fixedList', size: atLeastZero(table.int32(0), label) };
    case 17:
      return { kind: 'map' };
    case 18:
      return { kind: 'duration', unit: pick(timeUnits, table.int16(0, 1), label) };
    case 19:
      return { kind: 'bytes', text: false, large: true };
    case 20:
      return { kind: 'bytes', text: true, large: true };
    case 21:
      return { kind: 'list', large: true };
    case 23:
      return { kind: 'view', text: false };
    case 24:
      return { kind: 'view', text: true };
    default:
      throw new CodedError(
        'unsupported_type',
        `${label} has ${refusedTypes[id] ?? `the Arrow type ${id}`}, which is not accepted`,
      );
  }
}

const refusedTypes: Readonly<Record<number, string>> = {
  22: 'the Arrow type run_end_encoded',
  25: 'the Arrow type list_view',
  26: 'the Arrow type large_list_view',
};

function readUnion(table: FlatbufferTable, label: string, memberCount: number): ArrowType {
  const typeIds = table.int32s(1) ?? Array.from({ length: memberCount }, (_, index) => index);
  if (typeIds.some((id) => id < 0 || id > 127) || new Set(typeIds).size !== typeIds.length) {
    throw new InvalidArrow(`${label} is a union whose type ids are not distinct numbers up to 127`);
  }
  return { kind: 'union', dense: pick([false, true] as const, table.int16(0), label), typeIds };
}

function pick<T>(values: readonly T[], index: number, label: string): T {
  const value = values[index];
  if (value === undefined) throw new InvalidArrow(`${label} has a type with an unknown unit or width`);
  return value;
}

function atLeastZero(size: number, label: string): number {
  if (size < 0) throw new InvalidArrow(`${label} has a type of negative size`);
  return size;
}
