import type { ArrowField, ArrowType } from '../types/arrow-field.ts';
import { type FlatObject, type FlatTable, flatBool, flatInt8, flatInt16, flatInt32 } from './flatbuffer-writer.ts';
import { ipcMessage } from './ipc-message.ts';

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
      return [3, flatInt16(type.bits === 32 ? 1 : 2)];
    case 'binary':
      return [4];
    case 'utf8':
      return [5];
    case 'bool':
      return [6];
    case 'decimal128':
      return [7, flatInt32(type.precision), flatInt32(type.scale), flatInt32(128)];
    case 'date32':
      return [8, flatInt16(0)];
    case 'time32':
      return [9, flatInt16(timeUnits.ms), flatInt32(32)];
    case 'time64':
      return [9, flatInt16(timeUnits[type.unit]), flatInt32(64)];
    case 'timestamp':
      return [10, flatInt16(timeUnits[type.unit]), type.zone === undefined ? undefined : { text: type.zone }];
    case 'monthDayNano':
      return [11, flatInt16(2)];
    case 'list':
      return [12];
    case 'struct':
      return [13];
    case 'union':
      return [14, flatInt16(type.mode === 'sparse' ? 0 : 1), { int32s: type.typeIds }];
    case 'fixedBinary':
      return [15, flatInt32(type.width)];
    case 'fixedList':
      return [16, flatInt32(type.size)];
    case 'map':
      return [17, flatBool(false)];
    default:
      return type satisfies never;
  }
}
