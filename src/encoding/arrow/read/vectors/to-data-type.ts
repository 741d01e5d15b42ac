import type { Column, DataType } from '../../../../core/data-type.ts';
import type { ArrowField } from '../format/schema.ts';

function columnsOf(fields: readonly ArrowField[]): Column[] {
  return fields.map((field) => ({ name: field.name, type: toDataType(field) }));
}

/** The type of ours that holds every value of a field. */
export function toDataType(field: ArrowField): DataType {
  const { type, children } = field;
  switch (type.kind) {
    case 'null':
      return { kind: 'null' };
    case 'bool':
      return { kind: 'boolean' };
    case 'int':
      return type;
    case 'float':
      return { kind: 'float', bits: type.bits === 64 ? 64 : 32 };
    case 'decimal':
      return { kind: 'decimal', precision: type.precision, scale: type.scale };
    case 'bytes':
    case 'view':
      return type.text ? { kind: 'utf8' } : { kind: 'binary' };
    case 'fixedBytes':
      return field.extension === 'arrow.uuid' ? { kind: 'uuid' } : { kind: 'binary' };
    case 'date':
      return { kind: 'date' };
    case 'time':
      return { kind: 'time', unit: type.unit === 'ns' ? 'ns' : 'us' };
    case 'timestamp':
      return { kind: 'timestamp', unit: type.zoned ? 'us' : type.unit, zoned: type.zoned };
    case 'duration':
    case 'interval':
      return { kind: 'interval' };
    case 'list':
      return { kind: 'list', element: elementOf(children) };
    case 'fixedList':
      return { kind: 'array', element: elementOf(children), size: type.size };
    case 'struct':
      return { kind: 'struct', fields: columnsOf(children) };
    case 'map': {
      const [key, value] = children[0]?.children ?? [];
      return { kind: 'map', key: elementOf(key && [key]), value: elementOf(value && [value]) };
    }
    case 'union':
      return { kind: 'union', members: columnsOf(children) };
    default:
      return type satisfies never;
  }
}

function elementOf([element]: readonly ArrowField[] = []): DataType {
  return element === undefined ? { kind: 'null' } : toDataType(element);
}

/** Whether batches with the field are laid out as our own encoder would do it, so that they may be passed on as they are. */
export function hasOwnLayout(field: ArrowField): boolean {
  const { type, children } = field;
  if (field.dictionary !== undefined || !children.every(hasOwnLayout)) return false;
  switch (type.kind) {
    case 'float':
      return type.bits !== 16;
    case 'decimal':
      return type.bits === 128;
    case 'bytes':
    case 'list':
      return !type.large;
    case 'date':
      return type.unit === 'day';
    case 'time':
      return type.unit === 'us' || type.unit === 'ns';
    case 'timestamp':
      return !type.zoned || type.unit === 'us';
    case 'interval':
      return type.unit === 'monthDayNano';
    case 'bool':
    case 'int':
    case 'struct':
    case 'map':
    case 'fixedList':
      return true;
    case 'null':
    case 'view':
    case 'fixedBytes':
    case 'duration':
    case 'union':
      return false;
    default:
      return type satisfies never;
  }
}
