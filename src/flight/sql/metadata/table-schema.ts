import type { DataType } from '../../../core/data-type.ts';
import { framesCatalog, framesSchema } from '../../../core/sql.ts';
import { arrowFields } from '../../../encoding/arrow/types/arrow-columns.ts';
import { schemaMessage } from '../../../encoding/arrow/write/schema-message.ts';
import type { SqlTableEntry } from './tables.ts';

const prefix = 'ARROW:FLIGHT:SQL:';

/** `table_schema` of GetTables: an encapsulated schema whose fields tell what JDBC's getColumns and Power BI ask. */
export function tableSchema(table: SqlTableEntry): Uint8Array {
  const { catalog, schema, name, columns } = table;
  const shared = {
    [`${prefix}CATALOG_NAME`]: catalog,
    [`${prefix}DB_SCHEMA_NAME`]: schema,
    [`${prefix}TABLE_NAME`]: name,
    [`${prefix}IS_AUTO_INCREMENT`]: '0',
    [`${prefix}IS_READ_ONLY`]: catalog === framesCatalog && schema === framesSchema ? '0' : '1',
    [`${prefix}IS_SEARCHABLE`]: '1',
  };
  const fields = arrowFields(columns).map((field, index) => {
    const { type } = columns[index] as SqlTableEntry['columns'][number];
    return { ...field, metadata: { ...field.metadata, ...shared, ...typeMetadata(type) } };
  });
  return schemaMessage(fields);
}

function typeMetadata(type: DataType): Record<string, string> {
  const digits = decimalDigits(type);
  return {
    [`${prefix}IS_CASE_SENSITIVE`]: type.kind === 'utf8' || type.kind === 'json' ? '1' : '0',
    ...(digits && { [`${prefix}PRECISION`]: `${digits.precision}`, [`${prefix}SCALE`]: `${digits.scale}` }),
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
