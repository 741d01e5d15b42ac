import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Column, type DeclaredType, sqlName, sqlString, sqlTypeName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Definition } from '../../core/sql/definition.ts';
import { framesCatalog, framesSchema, type Listed, type ListedTable } from '../../core/sql/sql.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { CatalogListing, ListedDefinition } from './protocol/protocol.ts';
import { carriedText } from './view-text.ts';
import { isSystemName } from './worker/gate/rules/reserved-names.ts';
import { uniqueNames } from './worker/parquet/unique-names.ts';

/** DuckDB keeps about two kilobytes of each. */
const mostColumns = 250_000;
/** Columns that are put into text before other requests get a turn: a few milliseconds. */
const columnsAtOnce = 1000;

/**
 * The catalogs that a process must show. Of tables whose names differ only in case the first is listed: SQL knows no others. Rejects
 * with `sql_error` if they are too many.
 */
export async function catalogListing(
  { tables: listed, definitions }: Listed,
  signal: AbortSignal,
): Promise<Required<CatalogListing>> {
  assertFew(listed);
  const names = new Set<string>();
  const tables: ListedDefinition[] = [];
  let digests = '';
  let worded = 0;
  for (const table of listed) {
    if (hidesCatalog(table)) continue;
    if (!isKnown(table)) worded += table.columns.length;
    if (worded >= columnsAtOnce) {
      worded = 0;
      await nextTurn();
      signal.throwIfAborted();
    }
    const { key, definition } = definitionOf(table);
    if (names.has(key)) continue;
    names.add(key);
    digests += definition.digest;
    tables.push(definition);
  }
  // Behind the tables that they read.
  for (const definition of definitions) {
    const named = namedDefinition(definition);
    digests += named.digest;
    tables.push(named);
  }
  return { signature: createHash('sha256').update(digests).digest('base64'), tables };
}

const ownSchema = [framesCatalog, framesSchema].map(sqlName).join('.');

function namedDefinition({ kind, name, id, forms }: Definition): ListedDefinition {
  const isTable = kind === 'table macro';
  const formOf = (bodyOf: (sql: string) => string): string =>
    forms
      .map(({ parameters, sql }) => {
        const list = parameters.map((parameter) =>
          parameter.default === undefined
            ? sqlName(parameter.name)
            : `${sqlName(parameter.name)} := (${parameter.default})`,
        );
        return `(${list.join(', ')}) AS ${isTable ? `TABLE (${bodyOf(sql)})` : bodyOf(sql)}`;
      })
      .join(', ');
  const text = { schema: ownSchema, name: sqlName(name), kind, digest: id };
  if (kind === 'type') return { ...text, body: forms.map(({ sql }) => sql).join() };
  // If DuckDB refuses it, as when a table of it is gone.
  const asText = formOf((sql) => (isTable ? `SELECT ${sqlString(sql)}` : sqlString(sql)));
  return { ...text, body: formOf((sql) => (isTable ? sql : `(${sql})`)), otherwise: asText };
}

interface Known {
  readonly table: ListedTable;
  readonly key: string;
  readonly definition: ListedDefinition;
}

/** A version in memory keeps one list of columns, and most frames do not change between two statements. */
const known = new WeakMap<readonly Column[], Known>();

function isKnown(table: ListedTable): boolean {
  const before = known.get(table.columns);
  return before !== undefined && isSame(before.table, table);
}

function definitionOf(table: ListedTable): Known {
  const before = known.get(table.columns);
  if (before !== undefined && isSame(before.table, table)) return before;
  const { catalog, kind, columns, declared } = table;
  const names = uniqueNames(columns.map(({ name }) => name));
  const items = columns.map(({ type: stored }, index) => {
    const name = sqlName(names[index] ?? '');
    const type = sqlTypeName(named(declared?.[index] ?? stored));
    return kind === 'view' ? `CAST(NULL AS ${type}) AS ${name}` : `${name} ${type}`;
  });
  const body = kind === 'view' ? `SELECT ${items.join(', ')}${carriedText(table.sql)}` : items.join(', ');
  const schema = `${sqlName(catalog)}.${sqlName(table.schema)}`;
  const constrained = table.constraints && {
    columns: columns.map((column, index) => ({ ...column, declared: declared?.[index] ?? undefined })),
    constraints: table.constraints,
  };
  const content = { schema, name: sqlName(table.name), kind, body, constrained };
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('base64');
  const made = { table, key: asciiLower(`${schema}.${content.name}`), definition: { ...content, digest } };
  known.set(columns, made);
  return made;
}

function isSame(a: ListedTable, b: ListedTable): boolean {
  return (
    a.name === b.name &&
    a.schema === b.schema &&
    a.catalog === b.catalog &&
    a.kind === b.kind &&
    a.sql === b.sql &&
    a.declared === b.declared &&
    a.constraints === b.constraints
  );
}

/** By these names a query is to find DuckDB's own view. */
function hidesCatalog({ catalog, schema, name }: ListedTable): boolean {
  return catalog === framesCatalog && schema === framesSchema && isSystemName(name);
}

function assertFew(tables: readonly ListedTable[]): void {
  const columns = tables.reduce((sum, table) => sum + table.columns.length, 0);
  if (columns <= mostColumns) return;
  throw new AppError('sql_error', `the catalogs would show ${columns} columns, more than ${mostColumns}`, {
    hint: 'SHOW TABLES lists the frames, DESCRIBE the columns of one, and GET /handles both',
  });
}

/** SQL has no members without a name, which a union inside a list gives to frames. */
function named(type: DeclaredType): DeclaredType {
  switch (type.kind) {
    case 'struct': {
      const names = uniqueNames(type.fields.map(({ name }) => name));
      const fields = type.fields.map((field, index) => ({ name: names[index] ?? '', type: named(field.type) }));
      return { kind: 'struct', fields };
    }
    case 'list':
      return { kind: 'list', element: named(type.element) };
    case 'array':
      return { ...type, element: named(type.element) };
    case 'map':
      return { kind: 'map', key: named(type.key), value: named(type.value) };
    default:
      return type;
  }
}
