import { type DataType, isDecimalSize } from '@framehold/columns';
import type { ArrowType } from '../../types/arrow-type.ts';
import { isUuid, type ReceivedField, unsupported } from '../format/schema.ts';

/** Encoders hold a row whole, and a fixed size counts for rows that are null, too. */
const mostElements = 65_536;
const decimalBits: ReadonlySet<number> = new Set([32, 64, 128, 256]);

/** Our type that holds every value of a field. `times`: values in a row of the fixed-size lists around it. */
export function toDataType(field: ReceivedField, ofNull: DataType = { kind: 'null' }, times = 1): DataType {
  const { type, children } = field;
  const typeOf = (child: ReceivedField, each = 1): DataType => toDataType(child, ofNull, each);
  const members = () => children.map((child) => ({ name: child.name, type: typeOf(child, times) }));
  const [element] = children as [ReceivedField];
  switch (type.kind) {
    case 'null':
      return ofNull;
    case 'bool':
      return { kind: 'boolean' };
    case 'int':
      return type;
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
    case 'date':
      return { kind: 'date' };
    case 'time':
      return { kind: 'time', unit: type.unit === 'ns' ? 'ns' : 'us' };
    case 'timestamp':
      return { kind: 'timestamp', unit: type.zoned && type.unit !== 'ns' ? 'us' : type.unit, zoned: type.zoned };
    case 'duration':
    case 'interval':
      return { kind: 'interval' };
    case 'list':
      return { kind: 'list', element: typeOf(element) };
    case 'fixedList':
      if (type.size < 1 || type.size * times > mostElements) {
        throw unsupported(field, `lists of the fixed size ${type.size}`, 'cast it to a list');
      }
      return { kind: 'array', element: typeOf(element, type.size * times), size: type.size };
    case 'struct':
      return { kind: 'struct', fields: members() };
    case 'map': {
      const [key, value] = element.children as [ReceivedField, ReceivedField];
      return { kind: 'map', key: typeOf(key), value: typeOf(value) };
    }
    case 'union':
      return { kind: 'union', members: members() };
    default:
      return type satisfies never;
  }
}

function decimalType(field: ReceivedField, { precision, scale, bits }: ArrowType & { kind: 'decimal' }): DataType {
  if (!decimalBits.has(bits) || !isDecimalSize({ precision, scale })) {
    const what = `decimals of ${precision} digits and scale ${scale} in ${bits} bits`;
    throw unsupported(field, what, 'cast it to a decimal of at most 38 digits');
  }
  return { kind: 'decimal', precision, scale };
}
