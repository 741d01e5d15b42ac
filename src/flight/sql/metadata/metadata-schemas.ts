import {
  type ArrowField,
  type ArrowType,
  arrowField,
  binaryType as binary,
  listType,
  utf8Type as utf8,
} from '@framehold/arrow-ipc';

const bool: ArrowType = { kind: 'bool' };
const int32: ArrowType = { kind: 'int', bits: 32, signed: true };
const int64: ArrowType = { kind: 'int', bits: 64, signed: true };
const uint8: ArrowType = { kind: 'int', bits: 8, signed: false };
const uint32: ArrowType = { kind: 'int', bits: 32, signed: false };

const optional = (name: string, type: ArrowType, ...children: readonly ArrowField[]): ArrowField =>
  arrowField(name, type, { nullable: true, children });
const required = (name: string, type: ArrowType, ...children: readonly ArrowField[]): ArrowField =>
  arrowField(name, type, { nullable: false, children });

// Clients compare these exactly, nullability and the names of children included. They are those of the Go and Java
// libraries; where FlightSql.proto says otherwise (key_sequence and key_name change places there) the libraries win.

export const catalogFields: readonly ArrowField[] = [required('catalog_name', utf8)];

export const dbSchemaFields: readonly ArrowField[] = [optional('catalog_name', utf8), required('db_schema_name', utf8)];

export const tableFields: readonly ArrowField[] = [
  optional('catalog_name', utf8),
  optional('db_schema_name', utf8),
  required('table_name', utf8),
  required('table_type', utf8),
];

export const tableWithSchemaFields: readonly ArrowField[] = [...tableFields, required('table_schema', binary)];

export const tableTypeFields: readonly ArrowField[] = [required('table_type', utf8)];

export const primaryKeyFields: readonly ArrowField[] = [
  optional('catalog_name', utf8),
  optional('db_schema_name', utf8),
  required('table_name', utf8),
  required('column_name', utf8),
  required('key_sequence', int32),
  optional('key_name', utf8),
];

/** For exported and imported keys and cross references. */
export const foreignKeyFields: readonly ArrowField[] = [
  optional('pk_catalog_name', utf8),
  optional('pk_db_schema_name', utf8),
  required('pk_table_name', utf8),
  required('pk_column_name', utf8),
  optional('fk_catalog_name', utf8),
  optional('fk_db_schema_name', utf8),
  required('fk_table_name', utf8),
  required('fk_column_name', utf8),
  required('key_sequence', int32),
  optional('fk_key_name', utf8),
  optional('pk_key_name', utf8),
  required('update_rule', uint8),
  required('delete_rule', uint8),
];

/** The members' order is that of `sqlInfoMember`. */
export const sqlInfoFields: readonly ArrowField[] = [
  required('info_name', uint32),
  required(
    'value',
    { kind: 'union', dense: true, typeIds: [0, 1, 2, 3, 4, 5] },
    required('string_value', utf8),
    required('bool_value', bool),
    required('bigint_value', int64),
    required('int32_bitmask', int32),
    required('string_list', listType, optional('item', utf8)),
    required(
      'int32_to_int32_list_map',
      { kind: 'map' },
      required(
        'entries',
        { kind: 'struct' },
        required('key', int32),
        optional('value', listType, optional('item', int32)),
      ),
    ),
  ),
];

export const xdbcTypeFields: readonly ArrowField[] = [
  required('type_name', utf8),
  required('data_type', int32),
  optional('column_size', int32),
  optional('literal_prefix', utf8),
  optional('literal_suffix', utf8),
  optional('create_params', listType, required('item', utf8)),
  required('nullable', int32),
  required('case_sensitive', bool),
  required('searchable', int32),
  optional('unsigned_attribute', bool),
  required('fixed_prec_scale', bool),
  optional('auto_increment', bool),
  optional('local_type_name', utf8),
  optional('minimum_scale', int32),
  optional('maximum_scale', int32),
  required('sql_data_type', int32),
  optional('datetime_subcode', int32),
  optional('num_prec_radix', int32),
  optional('interval_precision', int32),
];
