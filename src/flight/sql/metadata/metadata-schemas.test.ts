import { type ArrowField, schemaMessage } from '@framehold/arrow-ipc';
import { type Field, RecordBatchReader } from 'apache-arrow';
import { expect, test } from 'vitest';
import {
  catalogFields,
  dbSchemaFields,
  foreignKeyFields,
  primaryKeyFields,
  sqlInfoFields,
  tableFields,
  tableTypeFields,
  tableWithSchemaFields,
  xdbcTypeFields,
} from './metadata-schemas.ts';

/** As arrow-go's schema_ref and Java's FlightSqlProducer.Schemas have them; `!` is NOT NULL. */
const reference: readonly [string, readonly ArrowField[], string][] = [
  ['GetCatalogs', catalogFields, 'catalog_name: Utf8!'],
  ['GetDbSchemas', dbSchemaFields, 'catalog_name: Utf8, db_schema_name: Utf8!'],
  ['GetTables', tableFields, 'catalog_name: Utf8, db_schema_name: Utf8, table_name: Utf8!, table_type: Utf8!'],
  [
    'GetTables with schemas',
    tableWithSchemaFields,
    'catalog_name: Utf8, db_schema_name: Utf8, table_name: Utf8!, table_type: Utf8!, table_schema: Binary!',
  ],
  ['GetTableTypes', tableTypeFields, 'table_type: Utf8!'],
  [
    'GetPrimaryKeys',
    primaryKeyFields,
    'catalog_name: Utf8, db_schema_name: Utf8, table_name: Utf8!, column_name: Utf8!, key_sequence: Int32!, key_name: Utf8',
  ],
  [
    'foreign keys',
    foreignKeyFields,
    'pk_catalog_name: Utf8, pk_db_schema_name: Utf8, pk_table_name: Utf8!, pk_column_name: Utf8!, ' +
      'fk_catalog_name: Utf8, fk_db_schema_name: Utf8, fk_table_name: Utf8!, fk_column_name: Utf8!, ' +
      'key_sequence: Int32!, fk_key_name: Utf8, pk_key_name: Utf8, update_rule: Uint8!, delete_rule: Uint8!',
  ],
  [
    'GetSqlInfo',
    sqlInfoFields,
    'info_name: Uint32!, value: DenseUnion[0,1,2,3,4,5]!(string_value: Utf8!, bool_value: Bool!, bigint_value: Int64!, ' +
      'int32_bitmask: Int32!, string_list: List!(item: Utf8), ' +
      'int32_to_int32_list_map: Map!(entries: Struct!(key: Int32!, value: List(item: Int32))))',
  ],
  [
    'GetXdbcTypeInfo',
    xdbcTypeFields,
    'type_name: Utf8!, data_type: Int32!, column_size: Int32, literal_prefix: Utf8, literal_suffix: Utf8, ' +
      'create_params: List(item: Utf8!), nullable: Int32!, case_sensitive: Bool!, searchable: Int32!, ' +
      'unsigned_attribute: Bool, fixed_prec_scale: Bool!, auto_increment: Bool, local_type_name: Utf8, ' +
      'minimum_scale: Int32, maximum_scale: Int32, sql_data_type: Int32!, datetime_subcode: Int32, ' +
      'num_prec_radix: Int32, interval_precision: Int32',
  ],
];

test.each(reference)('%s has the schema of the reference libraries', (_, fields, expected) => {
  const { schema } = RecordBatchReader.from(schemaMessage(fields)).open();
  expect(schema.fields.map(shown).join(', ')).toBe(expected);
  expect(schema.metadata.size).toBe(0);
  for (const field of schema.fields) expect(field.metadata.size).toBe(0);
});

function shown({ name, type, nullable }: Field): string {
  const children = ((type as { children?: readonly Field[] }).children ?? []).map(shown).join(', ');
  const { typeIds } = type as { typeIds?: Int32Array };
  const kind = type.toString().replace(/[<{].*/s, '');
  const label = typeIds === undefined ? kind : `DenseUnion[${[...typeIds]}]`;
  return `${name}: ${label}${nullable ? '' : '!'}${children === '' ? '' : `(${children})`}`;
}
