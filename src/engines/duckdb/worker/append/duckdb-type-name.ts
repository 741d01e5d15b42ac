import { AppError } from '../../../../core/app-error.ts';
import { type ArrowField, type ArrowType, isUuid, unsupported } from '../../../../encoding/arrow/read/format/schema.ts';
import { sqlName } from '../../protocol/sql-text.ts';

const maxValueBytes = 64 * 1024;
const maxRowBytes = 256 * 1024;
const timestampTypes = { s: 'TIMESTAMP_S', ms: 'TIMESTAMP_MS', us: 'TIMESTAMP', ns: 'TIMESTAMP_NS' } as const;

/** The DuckDB type that holds every value of an Arrow field. */
export function duckdbTypeName(field: ArrowField): string {
  const { type, children } = field;
  switch (type.kind) {
    case 'null':
      return '"NULL"';
    case 'bool':
      return 'BOOLEAN';
    case 'int':
      return `${type.signed ? '' : 'U'}${{ 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT' }[type.bits]}`;
    case 'float':
      return type.bits === 64 ? 'DOUBLE' : 'FLOAT';
    case 'decimal':
      return decimalType(field, type);
    case 'bytes':
    case 'view':
      if (!type.text) return 'BLOB';
      return field.extension === 'arrow.json' ? 'JSON' : 'VARCHAR';
    case 'fixedBytes':
      return isUuid(field) ? 'UUID' : 'BLOB';
    case 'date':
      return 'DATE';
    case 'time':
      return type.unit === 'ns' ? 'TIME_NS' : 'TIME';
    case 'timestamp':
      return type.zoned ? 'TIMESTAMPTZ' : timestampTypes[type.unit];
    case 'duration':
    case 'interval':
      return 'INTERVAL';
    case 'list':
      return `${duckdbTypeName(onlyChild(field))}[]`;
    case 'fixedList':
      if (type.size === 0) throw unsupported(field, 'lists of the fixed size 0');
      return `${duckdbTypeName(onlyChild(field))}[${type.size}]`;
    case 'map': {
      const [key, value] = onlyChild(field).children as [ArrowField, ArrowField];
      return `MAP(${duckdbTypeName(key)}, ${duckdbTypeName(value)})`;
    }
    case 'struct':
      return `STRUCT(${members(field, children)})`;
    case 'union':
      return `UNION(${members(field, children)})`;
    default:
      throw new Error(`unreachable: ${type satisfies never}`);
  }
}

/** Bytes that a value takes in a vector of DuckDB. What a list points to counts as one element. */
export function vectorBytes(field: ArrowField): number {
  const { type, children } = field;
  const ofChildren = (): number => children.reduce((sum, child) => sum + vectorBytes(child), 0);
  switch (type.kind) {
    case 'bool':
      return 1;
    case 'null':
      return 4;
    case 'int':
      return type.bits / 8;
    case 'float':
      return type.bits === 64 ? 8 : 4;
    case 'list':
    case 'map':
      return 16 + ofChildren();
    case 'fixedList':
      return type.size * ofChildren();
    case 'struct':
      return ofChildren();
    case 'union':
      return 1 + ofChildren();
    default:
      return 16;
  }
}

/**
 * Refuses what cannot be the columns of a frame. A chunk of DuckDB has room for 2,048 values of every column, so that fixed
 * sizes multiply; and whoever takes names as C does would read only the beginning of one with a NUL.
 */
export function checkColumns(fields: readonly ArrowField[]): void {
  let total = 0;
  for (const field of fields) {
    if (field.name.includes('\0')) throw unsupported(field, 'a NUL in its name', 'rename the column');
    const bytes = vectorBytes(field);
    if (bytes > maxValueBytes)
      throw unsupported(field, `fixed-size lists of ${bytes} bytes a row (at most ${maxValueBytes})`);
    total += bytes;
  }
  if (total > maxRowBytes) throw new AppError('too_large', 'the Arrow schema has too many columns');
}

function onlyChild(field: ArrowField): ArrowField {
  return field.children[0] as ArrowField;
}

function decimalType(field: ArrowField, { precision, scale, bits }: ArrowType & { kind: 'decimal' }): string {
  if (![32, 64, 128, 256].includes(bits)) throw unsupported(field, `decimals of ${bits} bits`);
  if (precision < 1 || precision > 38) throw unsupported(field, `decimals of ${precision} digits (DuckDB has 1 to 38)`);
  if (scale < 0 || scale > precision) throw unsupported(field, `decimals of ${precision} digits and scale ${scale}`);
  return `DECIMAL(${precision},${scale})`;
}

/** DuckDB tells names apart without regard to case, and knows none that is empty. */
function members(field: ArrowField, children: readonly ArrowField[]): string {
  if (children.length === 0) throw unsupported(field, 'a struct or union without fields');
  const taken = new Set<string>();
  const items = children.map((child) => {
    const folded = child.name.toLowerCase();
    if (child.name === '' || child.name.includes('\0')) {
      throw unsupported(field, 'a struct or union with a field without a proper name');
    }
    if (taken.has(folded))
      throw unsupported(field, `the field name ${JSON.stringify(child.name)} twice, by case or exactly`);
    taken.add(folded);
    return `${sqlName(child.name)} ${duckdbTypeName(child)}`;
  });
  return items.join(', ');
}
