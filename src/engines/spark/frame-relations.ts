import { AppError } from '../../core/app-error.ts';
import type { FrameTable, SqlTable, TableName } from '../../core/sql.ts';
import { arrowField } from '../../encoding/arrow/arrow-field.ts';
import { type PathMap, withoutGlobs } from './path-map.ts';
import { aliased, localRows, type Relation, readParquet } from './plan.ts';
import type { Flavour } from './spark-session.ts';

export interface FrameRelationsOptions {
  readonly flavour: Flavour;
  readonly pathMap: PathMap;
  /** Every name as the query spells it. */
  readonly names: readonly TableName[];
}

/** What the names of a query mean, as relations of its plan. */
export function tableRelations(tables: readonly SqlTable[], options: FrameRelationsOptions): Relation[] {
  return tables.flatMap((table) => {
    const relation = table.kind === 'frame' ? frameRelation(table, options) : listRelation(table);
    return aliasesOf(table.name, options).map((alias) => aliased(relation, alias));
  });
}

/** Exactly the files of the version. */
export function frameRelation(
  table: FrameTable,
  { flavour, pathMap }: Pick<FrameRelationsOptions, 'flavour' | 'pathMap'>,
): Relation {
  return readParquet(
    table.parts.map(({ path }) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (name.startsWith('_')) {
        throw new AppError(
          'unsupported_type',
          `frame ${handleOf(table)} begins with "_", and Spark ignores such files`,
          {
            hint: 'put it under another handle, or run the query on the local engine',
          },
        );
      }
      return withoutGlobs(pathMap.toCluster(path), flavour);
    }),
  );
}

/** The handle alone: the owner also names the tenant. */
export function handleOf({ owner }: FrameTable): string {
  return owner.slice(owner.indexOf('/') + 1);
}

function listRelation({ columns, rows }: Extract<SqlTable, { kind: 'list' }>): Relation {
  const fields = columns.map((name) => arrowField(name, { kind: 'utf8' }));
  return localRows(fields, rows);
}

/** Sail tells names apart by case, so that each spelling is a name of its own; Spark parses an alias as SQL does. */
function aliasesOf(name: string, { flavour, names }: FrameRelationsOptions): string[] {
  if (flavour === 'spark') return [/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``];
  const alike = names.map((table) => table.name).filter((each) => each.toLowerCase() === name.toLowerCase());
  return [...new Set([name, ...alike])];
}
