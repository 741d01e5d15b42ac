import { type Column, type DataType, sqlTypeName } from '@framehold/columns';
import { type ArrowField, arrowField } from './arrow-field.ts';
import { type ArrowType, binaryType, listType, utf8Type } from './arrow-type.ts';

const jsonExtension = { 'ARROW:extension:name': 'arrow.json', 'ARROW:extension:metadata': '' };

/**
 * Our columns as Arrow fields. Each has its SQL type in its metadata, as Flight SQL clients expect. Without the digits the JDBC
 * driver reports 0 of them, and Spark reads a decimal as DECIMAL(38,18).
 */
export function arrowFields(columns: readonly Column[]): ArrowField[] {
  return columns.map(({ name, type }) => {
    const field = fieldOf(name, type);
    return { ...field, metadata: { ...field.metadata, ...sqlMetadata(type) } };
  });
}

function sqlMetadata(type: DataType): Record<string, string> {
  const digits = decimalDigits(type);
  return {
    'ARROW:FLIGHT:SQL:TYPE_NAME': sqlTypeName(type),
    ...(digits && {
      'ARROW:FLIGHT:SQL:PRECISION': `${digits.precision}`,
      'ARROW:FLIGHT:SQL:SCALE': `${digits.scale}`,
    }),
  };
}

function decimalDigits(type: DataType): { readonly precision: number; readonly scale: number } | undefined {
  switch (type.kind) {
    case 'decimal':
      return type;
    case 'int':
      return { precision: type.bits === 64 && !type.signed ? 20 : integerDigits[type.bits], scale: 0 };
    default:
      return undefined;
  }
}

const integerDigits = { 8: 3, 16: 5, 32: 10, 64: 19, 128: 38 } as const;

function fieldOf(name: string, type: DataType): ArrowField {
  const metadata = type.kind === 'json' ? { metadata: jsonExtension } : {};
  return arrowField(name, arrowType(type), { children: childrenOf(type), ...metadata });
}

function childrenOf(type: DataType): ArrowField[] {
  switch (type.kind) {
    case 'list':
    case 'array':
      return [fieldOf('item', type.element)];
    case 'struct':
      return type.fields.map((field) => fieldOf(field.name, field.type));
    case 'union':
      return type.members.map((member) => fieldOf(member.name, member.type));
    case 'map': {
      const key = { ...fieldOf('key', type.key), nullable: false };
      const children = [key, fieldOf('value', type.value)];
      return [arrowField('entries', { kind: 'struct' }, { nullable: false, children })];
    }
    default:
      return [];
  }
}

function arrowType(type: DataType): ArrowType {
  switch (type.kind) {
    case 'boolean':
      return { kind: 'bool' };
    case 'int':
      return type.bits === 128
        ? { kind: 'decimal', precision: 38, scale: 0, bits: 128 }
        : { kind: 'int', bits: type.bits, signed: type.signed };
    case 'decimal':
      return { kind: 'decimal', precision: type.precision, scale: type.scale, bits: 128 };
    case 'utf8':
    case 'json':
    case 'uuid':
      return utf8Type;
    case 'binary':
      return binaryType;
    case 'date':
      return { kind: 'date', unit: 'day' };
    case 'interval':
      return { kind: 'interval', unit: 'monthDayNano' };
    case 'array':
      return { kind: 'fixedList', size: type.size };
    case 'union':
      return { kind: 'union', dense: false, typeIds: type.members.map((_, index) => index) };
    case 'list':
      return listType;
    case 'null':
    case 'struct':
    case 'map':
      return { kind: type.kind };
    case 'float':
    case 'time':
    case 'timestamp':
      return type;
    default:
      return type satisfies never;
  }
}
