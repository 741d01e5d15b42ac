import { type ArrowField, arrowFields, schemaMessageSteps } from '@framehold/arrow-ipc';
import { framesCatalog, framesSchema } from '../../../core/sql/sql.ts';
import type { SqlTableEntry } from './tables.ts';

/** Fields that are made in a step. */
const stepFields = 500;
const prefix = 'ARROW:FLIGHT:SQL:';

/** In steps, `table_schema` of GetTables: an encapsulated schema whose fields have the metadata for JDBC's getColumns and Power BI. */
export function* tableSchema(table: SqlTableEntry): Generator<void, Uint8Array, void> {
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
  const fields: ArrowField[] = [];
  for (const [index, field] of arrowFields(columns).entries()) {
    if (index % stepFields === stepFields - 1) yield;
    const { type } = columns[index] as SqlTableEntry['columns'][number];
    const isCaseSensitive = type.kind === 'utf8' || type.kind === 'json';
    const own = {
      [`${prefix}IS_CASE_SENSITIVE`]: isCaseSensitive ? '1' : '0',
      // As GetXdbcTypeInfo names it: tools write the digits, which have keys of their own, behind the name.
      ...(type.kind === 'decimal' && { [`${prefix}TYPE_NAME`]: 'DECIMAL' }),
    };
    const nullable = !notNull.has(field.name);
    fields.push({ ...field, nullable, metadata: { ...field.metadata, ...shared, ...own } });
  }
  return yield* schemaMessageSteps(fields);
}
