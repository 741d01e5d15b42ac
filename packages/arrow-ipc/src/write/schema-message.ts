import type { ArrowField } from '../types/arrow-field.ts';
import { type ArrowType, valueBytes } from '../types/arrow-type.ts';
import { type FlatObject, type FlatTable, flatBool, flatInt8, flatInt16, flatInt32 } from './flatbuffer-writer.ts';
import { ipcMessage, ipcMessageSteps } from './ipc-message.ts';

const littleEndian = 0;
const timeUnits = { s: 0, ms: 1, us: 2, ns: 3 } as const;

/** The mark with which an Arrow IPC stream ends. */
export const endOfStream = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/** The schema as one encapsulated message of Arrow IPC. */
export function schemaMessage(
  fields: readonly ArrowField[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const table = { fields: [flatInt16(littleEndian), { objects: fields.map(fieldTable) }, keyValues(metadata)] };
  return ipcMessage({ kind: 'schema', table, bodyBytes: 0, alignment: 8 });
}

/** The same in steps, between which others may have their turn. */
export function schemaMessageSteps(fields: readonly ArrowField[]): Generator<void, Uint8Array, void> {
  const objects = fields.map((field) => ({ make: () => fieldTable(field) }));
  const table = { fields: [flatInt16(littleEndian), { objects }] };
  return ipcMessageSteps({ kind: 'schema', table, bodyBytes: 0, alignment: 8 });
}

function fieldTable({ name, type, nullable, metadata = {}, children }: ArrowField): FlatTable {
  const [typeId, ...typeFields] = typeTable(type);
  return {
    fields: [
      { text: name },
      flatBool(nullable),
      flatInt8(typeId),
      { fields: typeFields },
      undefined,
      { objects: children.map(fieldTable) },
      keyValues(metadata),
    ],
  };
}

function keyValues(metadata: Readonly<Record<string, string>>): FlatObject | undefined {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return undefined;
  return { objects: pairs.map(([key, value]) => ({ fields: [{ text: key }, { text: value }] })) };
}

/** The number of the type in Arrow's `union Type`, then the fields of its table. */
function typeTable(type: ArrowType): [number, ...FlatTable['fields']] {
  switch (type.kind) {
    case 'null':
      return [1];
    case 'int':
      return [2, flatInt32(type.bits), flatBool(type.signed)];
    case 'float':
      return [3, flatInt16({ 16: 0, 32: 1, 64: 2 }[type.bits])];
    case 'bytes':
      return [(type.text ? 5 : 4) + (type.large ? 15 : 0)];
    case 'bool':
      return [6];
    case 'decimal':
      return [7, flatInt32(type.precision), flatInt32(type.scale), flatInt32(type.bits)];
    case 'date':
      return [8, flatInt16(type.unit === 'day' ? 0 : 1)];
    case 'time':
      return [9, flatInt16(timeUnits[type.unit]), flatInt32(valueBytes(type) * 8)];
    case 'timestamp':
      return [10, flatInt16(timeUnits[type.unit]), type.zoned ? { text: 'UTC' } : undefined];
    case 'interval':
      return [11, flatInt16({ month: 0, dayTime: 1, monthDayNano: 2 }[type.unit])];
    case 'list':
      return [type.large ? 21 : 12];
    case 'struct':
      return [13];
    case 'union':
      return [14, flatInt16(type.dense ? 1 : 0), { int32s: type.typeIds }];
    case 'fixedBytes':
      return [15, flatInt32(type.width)];
    case 'fixedList':
      return [16, flatInt32(type.size)];
    case 'map':
      return [17, flatBool(false)];
    case 'duration':
      return [18, flatInt16(timeUnits[type.unit])];
    case 'view':
      return [type.text ? 24 : 23];
    default:
      return type satisfies never;
  }
}
