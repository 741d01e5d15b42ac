import { arrowField, utf8Type } from '@framehold/arrow-ipc';
import { type Column, type DataType, sparkName } from '@framehold/columns';
import { aliased, type Flavour, localRows, type Relation, readParquet } from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameTable, SqlTable, TableName } from '../../core/sql/sql.ts';
import type { PathMap } from './path-map.ts';
import { sparkSchema } from './spark-schema.ts';

export interface FrameRelationsOptions {
  readonly flavour: Flavour;
  readonly pathMap: PathMap;
  /** Every name as the query spells it. */
  readonly names: readonly TableName[];
}

/** The tables behind the names of a query, as relations of its plan. */
export function tableRelations(tables: readonly SqlTable[], options: FrameRelationsOptions): Relation[] {
  return tables.flatMap((table) => {
    if (table.kind === 'changes') throw new Error('only the local engine changes frames');
    // No view is given to an engine without views.
    if (table.kind === 'view') throw new AppError('internal', 'a cluster engine was to read a view');
    if (table.kind === 'live') throw new AppError('internal', 'a cluster engine was to read the external database');
    const relation = table.kind === 'frame' ? frameRelation(table, options) : listRelation(table);
    return aliasesOf(table.name, options).map((alias) => aliased(relation, alias));
  });
}

/** Exactly the files of the version. */
export function frameRelation(
  table: FrameTable,
  { flavour, pathMap }: Pick<FrameRelationsOptions, 'flavour' | 'pathMap'>,
): Relation {
  refuseIntervals(table);
  const paths = table.parts.map(({ path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith('_')) {
      throw new AppError('unsupported_type', `frame ${handleOf(table)} begins with "_", and Spark ignores such files`, {
        hint: 'put it under another handle, or run the query on the local engine',
      });
    }
    return pathMap.toCluster(path, flavour, 'read');
  });
  const isUniform = table.parts.every(({ columnCount }) => columnCount === undefined);
  return readParquet(paths, flavour === 'spark' ? sparkSchema(table.columns) : undefined, { isUniform });
}

/** Spark cannot read them, and Sail loses their months in silence. */
function refuseIntervals(table: FrameTable): void {
  const column = table.columns.find(({ type }) => hasIntervals(type));
  if (column === undefined) return;
  const shown = JSON.stringify(column.name);
  throw new AppError('unsupported_type', `column ${shown} of frame ${handleOf(table)} is an interval`, {
    hint: 'a cluster engine cannot read it: run the query on the local engine',
  });
}

/** In Parquet they would become whole numbers. */
export function refuseKeptIntervals(columns: readonly Column[]): void {
  const column = columns.find(({ type }) => hasIntervals(type));
  if (column === undefined) return;
  throw new AppError('unsupported_type', `column ${JSON.stringify(column.name)} is an interval, which cannot be kept`, {
    hint: 'CAST it in the query, for example to STRING',
  });
}

function hasIntervals(type: DataType): boolean {
  switch (type.kind) {
    case 'interval':
      return true;
    case 'list':
    case 'array':
      return hasIntervals(type.element);
    case 'map':
      return hasIntervals(type.key) || hasIntervals(type.value);
    case 'struct':
      return type.fields.some((field) => hasIntervals(field.type));
    case 'union':
      return type.members.some((member) => hasIntervals(member.type));
    default:
      return false;
  }
}

/** The handle alone, without the tenant. */
export function handleOf({ frame }: FrameTable): string {
  return frame.slice(frame.indexOf('/') + 1);
}

function listRelation({ columns, rows }: Extract<SqlTable, { kind: 'list' }>): Relation {
  const fields = columns.map((name) => arrowField(name, utf8Type));
  return localRows(fields, rows);
}

/** Sail distinguishes names by case, so each spelling becomes a name of its own; Spark parses an alias as SQL does. */
function aliasesOf(name: string, { flavour, names }: FrameRelationsOptions): string[] {
  if (flavour === 'spark') return [/^[A-Za-z_]\w*$/.test(name) ? name : sparkName(name)];
  const alike = names.map((table) => table.name).filter((each) => each.toLowerCase() === name.toLowerCase());
  return [...new Set([name, ...alike])];
}
