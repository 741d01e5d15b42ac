import { framesCatalog, framesSchema } from '../../../core/sql.ts';
import { arrowFields } from '../../../encoding/arrow/types/arrow-columns.ts';
import { schemaMessage } from '../../../encoding/arrow/write/schema-message.ts';
import type { SqlTableEntry } from './tables.ts';

const prefix = 'ARROW:FLIGHT:SQL:';

/** `table_schema` of GetTables: an encapsulated schema whose fields tell what JDBC's getColumns and Power BI ask. */
export function tableSchema(table: SqlTableEntry): Uint8Array {
  const { catalog, schema, name, columns, constraints } = table;
  const notNull = new Set(constraints?.notNull);
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
    const isCaseSensitive = type.kind === 'utf8' || type.kind === 'json';
    const own = {
      [`${prefix}IS_CASE_SENSITIVE`]: isCaseSensitive ? '1' : '0',
      // As GetXdbcTypeInfo names it: tools write the digits, which have keys of their own, behind the name.
      ...(type.kind === 'decimal' && { [`${prefix}TYPE_NAME`]: 'DECIMAL' }),
    };
    const nullable = !notNull.has(field.name);
    return { ...field, nullable, metadata: { ...field.metadata, ...shared, ...own } };
  });
  return schemaMessage(fields);
}
