import type { Column } from '@framehold/columns';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { isSharedName, splitSharedName } from '../../../core/names/frame-name.ts';
import { liveSchema } from '../../../core/sql/live-read.ts';
import { type AnalyticsTable, analyticsCatalog, framesCatalog, framesSchema } from '../../../core/sql/sql.ts';
import type { TableConstraints } from '../../../core/sql/table-constraints.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import type { HeldSummary } from '../../../frames/catalog/frame-summary.ts';
import type { Frames } from '../../../frames/frames.ts';
import type { CallOptions, FrameSql } from '../../../query/frame-sql.ts';
import { likePattern } from './like-pattern.ts';

/** A caller's frames and the operator's database as a catalog of SQL. */
export interface TableSources {
  readonly sql: Pick<FrameSql, 'analyticsTables' | 'liveTables'>;
  readonly frames: Pick<Frames, 'list'>;
  readonly principal: Principal;
}

export interface SqlTableEntry {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly type: 'TABLE' | 'VIEW';
  readonly columns: readonly Column[];
  readonly constraints?: TableConstraints | undefined;
}

export interface TableFilter {
  /** This one, in any case of its letters; undefined: any. */
  readonly catalog: string | undefined;
  readonly schemaPattern: string | undefined;
  readonly tablePattern?: string | undefined;
  /** None: all of them. */
  readonly tableTypes?: readonly string[];
}

export const tableTypes = ['TABLE', 'VIEW'] as const;

/** In order of their names. The operator's database is one where it has tables. */
export async function listCatalogs(sources: TableSources, options: CallOptions): Promise<readonly string[]> {
  const hasTables = (await analyticsTables(sources, undefined, options)).length > 0;
  return hasTables ? [analyticsCatalog, framesCatalog] : [framesCatalog];
}

/** In order of catalogs and schemas. */
export async function listSchemas(
  sources: TableSources,
  { catalog, schemaPattern }: TableFilter,
  options: CallOptions,
): Promise<(readonly [catalog: string, schema: string])[]> {
  const found: [string, string][] = [];
  if (allows(catalog, analyticsCatalog)) {
    const schemas = (await analyticsTables(sources, catalog, options)).map(({ schema }) => schema);
    for (const schema of [...new Set(schemas)].sort()) found.push([analyticsCatalog, schema]);
  }
  if (allows(catalog, framesCatalog)) {
    const owners = (await sharedFrames(sources)).map(({ owner }) => owner);
    const live = (await sources.sql.liveTables(sources.principal, options)).length > 0 ? [liveSchema] : [];
    for (const schema of [...new Set([framesSchema, ...owners, ...live])].sort()) found.push([framesCatalog, schema]);
  }
  const fits = likePattern(schemaPattern);
  return found.filter(([, schema]) => fits(schema));
}

/** In order of catalogs, schemas and names. A damaged frame is no table: it cannot be read. */
export async function* listTables(
  sources: TableSources,
  { catalog, schemaPattern, tablePattern, tableTypes: types = [] }: TableFilter,
  options: CallOptions,
): AsyncGenerator<SqlTableEntry> {
  const schemaFits = likePattern(schemaPattern);
  const nameFits = likePattern(tablePattern);
  const typeFits = typeFilter(types);

  if (allows(catalog, analyticsCatalog) && (typeFits('TABLE') || typeFits('VIEW'))) {
    const tables = [...(await analyticsTables(sources, catalog, options))].sort(
      (a, b) => compare(a.schema, b.schema) || compare(a.name, b.name),
    );
    for (const { schema, name, kind, columns } of tables) {
      const type = kind === 'view' ? 'VIEW' : 'TABLE';
      if (!schemaFits(schema) || !nameFits(name) || !typeFits(type)) continue;
      yield { catalog: analyticsCatalog, schema, name, type, columns };
    }
  }
  if (!allows(catalog, framesCatalog)) return;
  const shared = (await sharedFrames(sources)).filter(({ owner }) => schemaFits(owner));
  yield* shared.filter(({ owner }) => owner < framesSchema).flatMap(sharedTable);
  if (schemaFits(framesSchema)) {
    for await (const frame of sources.frames.list(sources.principal, { whose: 'own' })) {
      if (frame.state !== 'held' || !nameFits(frame.handle)) continue;
      const table = frameTable(framesSchema, frame.handle, frame);
      if (typeFits(table.type)) yield table;
    }
  }
  yield* shared.filter(({ owner }) => owner > framesSchema && owner < liveSchema).flatMap(sharedTable);
  if (schemaFits(liveSchema) && typeFits('TABLE')) {
    const live = [...(await sources.sql.liveTables(sources.principal, options))].sort((a, b) =>
      compare(a.name, b.name),
    );
    for (const { name, columns } of live)
      if (nameFits(name)) yield { catalog: framesCatalog, schema: liveSchema, name, type: 'TABLE', columns };
  }
  yield* shared.filter(({ owner }) => owner > liveSchema).flatMap(sharedTable);

  function sharedTable({ owner, handle, frame }: SharedFrame): SqlTableEntry[] {
    const table = frameTable(owner, handle, frame);
    return nameFits(handle) && typeFits(table.type) ? [table] : [];
  }
}

function frameTable(schema: string, name: string, { columns, constraints, view }: HeldSummary): SqlTableEntry {
  return { catalog: framesCatalog, schema, name, type: view === undefined ? 'TABLE' : 'VIEW', columns, constraints };
}

interface SharedFrame {
  /** The name of its schema. */
  readonly owner: string;
  readonly handle: string;
  readonly frame: HeldSummary;
}

/** In order of owners and handles. */
async function sharedFrames({ frames, principal }: TableSources): Promise<SharedFrame[]> {
  const found: SharedFrame[] = [];
  for await (const frame of frames.list(principal, { whose: 'shared' })) {
    if (frame.state === 'held' && isSharedName(frame.handle)) {
      found.push({ ...splitSharedName(frame.handle), frame });
    }
  }
  return found.sort((a, b) => compare(a.owner, b.owner) || compare(a.handle, b.handle));
}

/** While another process writes the operator's database it cannot be opened: that hides its tables, not the frames. */
async function analyticsTables(
  { sql, principal }: TableSources,
  catalog: string | undefined,
  options: CallOptions,
): Promise<readonly AnalyticsTable[]> {
  try {
    return await sql.analyticsTables(principal, options);
  } catch (error) {
    if (catalog === undefined && error instanceof AppError && error.code === 'sql_error') return [];
    throw error;
  }
}

/** Grafana sends "BASE TABLE" and "table", JDBC tools "TABLE". */
function typeFilter(wanted: readonly string[]): (type: string) => boolean {
  if (wanted.length === 0) return () => true;
  const types = new Set(
    wanted.map((type) => type.toUpperCase()).map((type) => (type === 'BASE TABLE' ? 'TABLE' : type)),
  );
  return (type) => types.has(type);
}

function allows(wanted: string | undefined, catalog: string): boolean {
  return wanted === undefined || asciiLower(wanted) === catalog;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
