import type { ArrowField } from '@framehold/arrow-ipc';
import { inTurns } from '@framehold/async';
import type { CallOptions } from '../../../query/frame-sql.ts';
import type { SqlMessage } from '../messages/any-message.ts';
import {
  CommandGetCrossReference,
  CommandGetDbSchemas,
  CommandGetKeys,
  CommandGetSqlInfo,
  CommandGetTables,
  CommandGetXdbcTypeInfo,
} from '../messages/sql-messages.ts';
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
import type { SqlInfo } from './sql-info.ts';
import { foreignKeyRows, primaryKeyRows, type WantedKeys } from './table-keys.ts';
import { tableSchema } from './table-schema.ts';
import { listCatalogs, listSchemas, listTables, type TableSources, tableTypes } from './tables.ts';
import { xdbcTypeRows } from './xdbc-types.ts';

interface MetadataSources extends TableSources {
  readonly sqlInfos: readonly SqlInfo[];
}

type Row = readonly unknown[];

/** A table that answers a metadata command. */
export interface MetadataTable {
  readonly fields: readonly ArrowField[];
  rows(options: CallOptions): AsyncIterable<Row> | Iterable<Row>;
}

type Command = (value: Uint8Array, sources: MetadataSources) => MetadataTable;

const fixed = (fields: readonly ArrowField[], rows: Iterable<Row>): MetadataTable => ({ fields, rows: () => rows });

const foreignKeys = (sources: MetadataSources, wanted: WantedKeys): MetadataTable => ({
  fields: foreignKeyFields,
  rows: (options) => foreignKeyRows(sources, wanted, options),
});

const commands: Readonly<Record<string, Command>> = {
  CommandGetCatalogs: (_, sources) => ({
    fields: catalogFields,
    async *rows(options) {
      for (const catalog of await listCatalogs(sources, options)) yield [catalog];
    },
  }),
  CommandGetDbSchemas: (value, sources) => {
    const filter = CommandGetDbSchemas.decode(value);
    return {
      fields: dbSchemaFields,
      async *rows(options) {
        yield* await listSchemas(sources, filter, options);
      },
    };
  },
  CommandGetTables: (value, sources) => {
    const filter = CommandGetTables.decode(value);
    return {
      fields: filter.includeSchema ? tableWithSchemaFields : tableFields,
      async *rows(options) {
        for await (const table of listTables(sources, filter, options)) {
          const row = [table.catalog, table.schema, table.name, table.type];
          yield filter.includeSchema ? [...row, await inTurns(tableSchema(table), options.lane ?? '')] : row;
        }
      },
    };
  },
  CommandGetTableTypes: () =>
    fixed(
      tableTypeFields,
      tableTypes.map((type) => [type]),
    ),
  CommandGetSqlInfo: (value, { sqlInfos }) => {
    const wanted = new Set(CommandGetSqlInfo.decode(value).info);
    // An id that we do not know is left out: a newer client must not lose the others with it.
    const infos = wanted.size === 0 ? sqlInfos : sqlInfos.filter(({ id }) => wanted.has(id));
    return fixed(
      sqlInfoFields,
      infos.map(({ id, member, value }) => [id, { member, value }]),
    );
  },
  CommandGetXdbcTypeInfo: (value) => fixed(xdbcTypeFields, xdbcTypeRows(CommandGetXdbcTypeInfo.decode(value).dataType)),
  CommandGetPrimaryKeys: (value, sources) => {
    const wanted = CommandGetKeys.decode(value);
    return { fields: primaryKeyFields, rows: (options) => primaryKeyRows(sources, wanted, options) };
  },
  CommandGetExportedKeys: (value, sources) => foreignKeys(sources, { to: CommandGetKeys.decode(value) }),
  CommandGetImportedKeys: (value, sources) => foreignKeys(sources, { from: CommandGetKeys.decode(value) }),
  CommandGetCrossReference: (value, sources) => {
    const { pkCatalog, pkSchema, pkTable, fkCatalog, fkSchema, fkTable } = CommandGetCrossReference.decode(value);
    const to = { catalog: pkCatalog, schema: pkSchema, table: pkTable };
    return foreignKeys(sources, { to, from: { catalog: fkCatalog, schema: fkSchema, table: fkTable } });
  },
};

/** Undefined when the message is no metadata command. */
export function metadataTable({ name, value }: SqlMessage, sources: MetadataSources): MetadataTable | undefined {
  return Object.hasOwn(commands, name) ? commands[name]?.(value, sources) : undefined;
}
