import { createHash } from 'node:crypto';
import type { Column, DeclaredType } from '../../core/data-type.ts';
import type { ListedTable } from '../../core/sql.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import { sqlTypeName } from '../../encoding/sql-types/sql-type-name.ts';
import type { CatalogListing, ListedDefinition } from './protocol/protocol.ts';
import { sqlName } from './protocol/sql-text.ts';
import { uniqueNames } from './worker/parquet/unique-names.ts';

/** What a process is to show in its catalogs. Of tables whose names differ only in case it is the first: SQL knows no others. */
export function catalogListing(listed: readonly ListedTable[]): CatalogListing & Required<CatalogListing> {
  const names = new Set<string>();
  const hash = createHash('sha256');
  const tables: ListedDefinition[] = [];
  for (const table of listed) {
    const schema = `${sqlName(table.catalog)}.${sqlName(table.schema)}`;
    const name = sqlName(table.name);
    const key = asciiLower(`${schema}.${name}`);
    if (names.has(key)) continue;
    names.add(key);
    const { body, digest } = definitionOf(table);
    hash.update(`${schema}.${name} ${table.kind} ${digest}\n`);
    tables.push({ schema, name, kind: table.kind, body, columns: table.columns.length });
  }
  return { signature: hash.digest('base64'), tables };
}

interface Definition {
  readonly kind: ListedTable['kind'];
  readonly declared: ListedTable['declared'];
  readonly body: string;
  readonly digest: string;
}

/** Columns of a version are the same list as long as it is there, and most frames do not change between two statements. */
const known = new WeakMap<readonly Column[], Definition>();

function definitionOf({ kind, columns, declared }: ListedTable): Definition {
  const before = known.get(columns);
  if (before !== undefined && before.kind === kind && before.declared === declared) return before;
  const names = uniqueNames(columns.map(({ name }) => name));
  const types = columns.map(({ type }, index) => sqlTypeName(named(declared?.[index] ?? type)));
  const items = types.map((type, index) => {
    const name = sqlName(names[index] ?? '');
    return kind === 'view' ? `CAST(NULL AS ${type}) AS ${name}` : `${name} ${type}`;
  });
  const body = kind === 'view' ? `SELECT ${items.join(', ')}` : items.join(', ');
  const digest = createHash('sha256').update(body).digest('base64');
  const definition = { kind, declared, body, digest };
  known.set(columns, definition);
  return definition;
}

/** SQL has no members without a name, which frames have where a union is kept inside a list. */
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
