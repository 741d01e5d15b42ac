import { type Column, type DataType, sparkName } from '@framehold/columns';

/**
 * The columns of a frame as Spark writes them, so that it need not start a job only to read them from a file. Undefined
 * where it is safer that Spark looks itself.
 */
export function sparkSchema(columns: readonly Column[]): string | undefined {
  const names = new Set(columns.map(({ name }) => name.toLowerCase()));
  if (names.size < columns.length || names.has('')) return undefined;
  const fields: string[] = [];
  for (const { name, type } of columns) {
    const sparkType = sparkTypeName(type);
    if (sparkType === undefined) return undefined;
    fields.push(`${sparkName(name)} ${sparkType}`);
  }
  return fields.join(', ');
}

function sparkTypeName(type: DataType): string | undefined {
  switch (type.kind) {
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return (type.signed ? signedNames : unsignedNames)[type.bits];
    case 'float':
      return type.bits === 32 ? 'FLOAT' : 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case 'utf8':
      return 'STRING';
    case 'binary':
      return 'BINARY';
    case 'date':
      return 'DATE';
    case 'timestamp':
      if (type.unit !== 'us') return undefined;
      return type.zoned ? 'TIMESTAMP' : 'TIMESTAMP_NTZ';
    default:
      return undefined;
  }
}

const signedNames: Readonly<Record<number, string>> = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INT', 64: 'BIGINT' };
/** Spark has no unsigned integers and takes the next larger type. */
const unsignedNames: Readonly<Record<number, string>> = {
  8: 'SMALLINT',
  16: 'INT',
  32: 'BIGINT',
  64: 'DECIMAL(20, 0)',
};
