import type { Column, DataType } from '../../../../core/data-type.ts';
import { isDecimalSize } from '../../../../core/data-type.ts';
import { parseSqlType } from '../../../sql-types/parse-sql-type.ts';
import { type ArrowField, type ArrowType, isUuid, unsupported } from '../format/schema.ts';

const hint = 'cast it in the query';
/** Encoders hold a row whole, and a fixed size counts for rows that are null, too. */
const mostElements = 65_536;

/** What DuckDB says of a NULL whose type nothing tells. */
export const untypedNull: DataType = { kind: 'int', bits: 32, signed: true };

/** A column of foreign Arrow as one of ours: of the type that the local engine has for the same. */
export function toColumn(field: ArrowField): Column {
  const type = typeOf(field);
  const meant = field.sqlType === undefined ? undefined : parseSqlType(field.sqlType);
  const isOurs = meant !== undefined && JSON.stringify(asSent(meant)) === JSON.stringify(asSent(type));
  return { name: field.name, type: isOurs ? meant : type };
}

/** Types that leave us as another. */
function asSent(type: DataType): DataType {
  if (type.kind === 'uuid' || type.kind === 'json') return { kind: 'utf8' };
  if (type.kind === 'int' && type.bits === 128) return { kind: 'decimal', precision: 38, scale: 0 };
  return type.kind === 'list' ? { ...type, element: asSent(type.element) } : type;
}

/** `times`: how many values of it a row of the fixed-size lists around it has. */
function typeOf(field: ArrowField, times = 1): DataType {
  const { type, children } = field;
  switch (type.kind) {
    case 'null':
      return untypedNull;
    case 'int':
      return type;
    case 'date':
      return { kind: 'date' };
    case 'bool':
      return { kind: 'boolean' };
    case 'float':
      return { kind: 'float', bits: type.bits === 64 ? 64 : 32 };
    case 'decimal':
      return decimalType(field, type);
    case 'bytes':
    case 'view':
      if (!type.text) return { kind: 'binary' };
      return { kind: field.extension === 'arrow.json' ? 'json' : 'utf8' };
    case 'fixedBytes':
      return { kind: isUuid(field) ? 'uuid' : 'binary' };
    case 'time':
      return { kind: 'time', unit: type.unit === 'ns' ? 'ns' : 'us' };
    case 'timestamp':
      return { kind: 'timestamp', unit: type.zoned && type.unit !== 'ns' ? 'us' : type.unit, zoned: type.zoned };
    case 'duration':
    case 'interval':
      return { kind: 'interval' };
    case 'list':
      return { kind: 'list', element: typeOf(only(children)) };
    case 'fixedList':
      if (type.size < 1 || type.size * times > mostElements) {
        throw unsupported(field, `lists of the fixed size ${type.size}`, hint);
      }
      return { kind: 'array', element: typeOf(only(children), type.size * times), size: type.size };
    case 'map': {
      const [key, value] = only(children).children as [ArrowField, ArrowField];
      return { kind: 'map', key: typeOf(key), value: typeOf(value) };
    }
    case 'struct':
      return { kind: 'struct', fields: children.map((child) => memberOf(child, times)) };
    case 'union':
      return { kind: 'union', members: children.map((child) => memberOf(child, times)) };
    default:
      return type satisfies never;
  }
}

function memberOf(field: ArrowField, times: number): Column {
  return { name: field.name, type: typeOf(field, times) };
}

function only(children: readonly ArrowField[]): ArrowField {
  return children[0] as ArrowField;
}

function decimalType(field: ArrowField, { precision, scale, bits }: ArrowType & { kind: 'decimal' }): DataType {
  if (![32, 64, 128, 256].includes(bits) || !isDecimalSize({ precision, scale })) {
    throw unsupported(field, `decimals of ${precision} digits and scale ${scale} in ${bits} bits`, hint);
  }
  return { kind: 'decimal', precision, scale };
}
