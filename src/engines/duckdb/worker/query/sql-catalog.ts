import { existsSync } from 'node:fs';
import { sqlName, sqlString, sqlTypeName } from '@framehold/columns';
import { type Connection, DuckDbError, duckdbType } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import { liveSchema } from '../../../../core/sql/live-read.ts';
import type { ListTable } from '../../../../core/sql/sql.ts';
import { statementSettings } from '../../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { QueryTable, SqlSettings } from '../../protocol/protocol.ts';
import { rowIdName } from '../gate/tree/row-ids.ts';
import { declaredValue } from '../parquet/declared-value.ts';
import { parquetRelation } from '../parquet/parquet-relation.ts';
import { numberedParts, numberedRows, partsRelation, rowsRelation } from '../parquet/part-rows.ts';
import { uniqueNames } from '../parquet/unique-names.ts';
import { AppliedSettings } from './applied-settings.ts';
import { boundedFunctions } from './bounded-functions.ts';
import { liveRelation } from './live-relation.ts';
import { PlanCache } from './plan-cache.ts';
import { wholeDefinition } from './table-definition.ts';

const mostViews = 500;
const mostWarmFiles = 100;
/** More than any query gives. */
const allRows = '9223372036854775807';
/** Deeper expressions take DuckDB's planner tens of seconds. */
const maxExpressionDepth = 250;

/**
 * The tables that callers' SQL can see: the frames of its query as views, the operator's database while a query needs it, and
 * nothing else. Everything here runs on one connection. Of its configuration only the settings of a statement can still be changed.
 */
export class SqlCatalog {
  readonly connection: Connection;
  readonly kept = new PlanCache();
  readonly settings: AppliedSettings;
  readonly #analyticsPath: string | undefined;
  /** The source of each view, by its name in lower case. */
  readonly #views = new Map<string, string>();
  #warmNumber = 0;
  /** Names of native copies by path, the one used last at the end. */
  readonly #warmNames = new Map<string, string>();

  private constructor(connection: Connection, analyticsPath: string | undefined) {
    this.connection = connection;
    this.settings = new AppliedSettings(connection);
    this.#analyticsPath = analyticsPath;
  }

  static async open(connection: Connection, settings: SqlSettings): Promise<SqlCatalog> {
    const { directories, files, analyticsPath } = settings;
    const list = (paths: readonly string[]): string => `[${paths.map(sqlString).join(', ')}]`;
    // The order matters: the allowed paths cannot be set once access is off.
    const statements = [
      `SET max_expression_depth = ${maxExpressionDepth}`,
      `SET allowed_directories = ${list(directories)}`,
      `SET allowed_paths = ${list(files)}`,
      "ATTACH ':memory:' AS framehold",
      'CREATE SCHEMA framehold.frames',
      ...boundedFunctions('framehold.frames'),
      'USE framehold.frames',
      'SET enable_external_access = false',
      // All that can be changed behind the lock. By the limit of memory, which the kernel has as well, freed memory is returned.
      `SET allowed_configs = ${list([...Object.keys(statementSettings), 'memory_limit'])}`,
      'SET lock_configuration = true',
    ];
    for (const sql of statements) await connection.run(sql);
    return new SqlCatalog(connection, analyticsPath);
  }

  /** Whether a query reads these tables now. */
  shows(tables: readonly QueryTable[]): boolean {
    return tables.every((table) => {
      const { source } = table;
      const stored = source.kind === 'warm' ? this.#warmNames.get(source.path) : fixedRelation(source);
      const relation = stored && asDeclared(stored, table);
      return relation !== undefined && this.#views.get(asciiLower(viewName(table))) === relation;
    });
  }

  /** The query's names for tables that have a name of their own here. */
  shownNames(tables: readonly QueryTable[]): ReadonlyMap<string, string> {
    return new Map(
      tables.flatMap(({ name, schema, source }) => {
        const known = source.kind === 'warm' ? this.#warmNames.get(source.path) : undefined;
        return known === undefined ? [] : [[known, schema === undefined ? name : `${schema}.${name}`]];
      }),
    );
  }

  /** Shows a query these tables, and no others of their names. */
  async show(tables: readonly QueryTable[], { hasListMath = false } = {}): Promise<void> {
    if (this.#views.size + tables.length > mostViews) await this.#dropViews();
    const wanted = wantedCopies(tables);
    for (const table of tables) {
      const source = asDeclared(await this.#relation(table, wanted), table);
      await this.#showView(table, hasListMath ? await this.#withoutNullItems(source) : source);
    }
  }

  /**
   * The same for a query that uses row numbers: each frame without a column of that name gets one with the numbers at its
   * end. False, and nothing shown, if a frame cannot be numbered.
   */
  async showNumbered(tables: readonly QueryTable[], { mayOwn }: { readonly mayOwn: boolean }): Promise<boolean> {
    const wanted = wantedCopies(tables);
    const shown: [QueryTable, string][] = [];
    for (const table of tables) {
      const relation = await this.#relation(table, wanted);
      const own = await this.#columnNames(relation);
      const hasOwn = own.some((name) => asciiLower(name) === rowIdName);
      if (hasOwn && !mayOwn) return false;
      const numbered = hasOwn ? relation : numberedRelation(table, relation, own);
      if (numbered === undefined) return false;
      shown.push([table, numbered]);
    }
    for (const [table, relation] of shown) await this.#showView(table, asDeclared(relation, table));
    return true;
  }

  /** Copies the frames into tables of DuckDB's own, which have numbers of rows that no `*` shows, until the result is disposed of. */
  async copyTables(
    tables: readonly QueryTable[],
    { hasListMath, hasRows }: { readonly hasListMath: boolean; readonly hasRows: boolean },
  ): Promise<AsyncDisposable> {
    const views = tables.filter(({ source }) => source.kind === 'view');
    const copied = tables.filter(({ source }) => source.kind !== 'view');
    await this.show(copied, { hasListMath });
    const copies: string[] = [];
    const drop = async (): Promise<void> => {
      for (const name of copies) await this.connection.tidy(`DROP TABLE IF EXISTS ${name}`);
    };
    try {
      for (const table of copied) {
        const name = viewName(table);
        const relation = this.#views.get(asciiLower(name));
        this.#views.delete(asciiLower(name));
        await this.connection.run(`DROP VIEW IF EXISTS ${name}`);
        copies.push(name);
        const rows = hasRows ? '' : ' LIMIT 0';
        await this.connection.run(`CREATE TABLE ${name} AS SELECT * FROM ${relation}${rows}`);
      }
      // Views over row numbers are made over the numbered tables.
      await this.show(views, { hasListMath });
    } catch (error) {
      await drop();
      throw error;
    }
    return { [Symbol.asyncDispose]: drop };
  }

  /** Makes the tables that are only described tables of DuckDB's own, with their constraints, until the result is disposed of. */
  async defineTables(tables: readonly QueryTable[]): Promise<AsyncDisposable> {
    await this.show(tables);
    const defined: string[] = [];
    const drop = async (): Promise<void> => {
      for (const name of defined) await this.connection.tidy(`DROP TABLE IF EXISTS ${name}`);
    };
    try {
      for (const table of tables) {
        if (table.source.kind !== 'defined') continue;
        const name = viewName(table);
        this.#views.delete(asciiLower(name));
        await this.connection.run(`DROP VIEW IF EXISTS ${name}`);
        defined.push(name);
        const items = await wholeDefinition(this.connection, table.source);
        // Tables whose constraints DuckDB refuses are described without them.
        if (!this.connection.runAtOnce(`CREATE TABLE ${name} (${items.join(', ')})`))
          await this.connection.run(`CREATE TABLE ${name} AS FROM ${definedRelation(table.source)}`);
      }
    } catch (error) {
      await drop();
      throw error;
    }
    return { [Symbol.asyncDispose]: drop };
  }

  /** Drops the tables of one statement alone. */
  async dropLive(tables: readonly QueryTable[]): Promise<void> {
    for (const table of tables) {
      if (table.source.kind !== 'live') continue;
      this.#views.delete(asciiLower(viewName(table)));
      // Each query of the external database has a schema of its own.
      const isQuery = table.schema !== liveSchema;
      await this.connection.tidy(
        isQuery ? `DROP SCHEMA IF EXISTS ${schemaName(table)} CASCADE` : `DROP VIEW IF EXISTS ${viewName(table)}`,
      );
    }
  }

  async #showView(table: QueryTable, relation: string): Promise<void> {
    const name = viewName(table);
    const key = asciiLower(name);
    if (this.#views.get(key) === relation) return;
    this.#views.delete(key);
    if (table.schema !== undefined) await this.connection.run(`CREATE SCHEMA IF NOT EXISTS ${schemaName(table)}`);
    await this.connection.run(`CREATE OR REPLACE VIEW ${name} AS SELECT * FROM ${relation}`);
    this.#views.set(key, relation);
  }

  async #columnNames(relation: string): Promise<readonly string[]> {
    using statement = await this.connection.prepare(`SELECT * FROM ${relation}`);
    return statement.columns.map(({ name }) => name);
  }

  /** Opens the operator's database until the result is disposed of: meanwhile no other process can write it. */
  async openAnalytics(): Promise<AsyncDisposable> {
    // Left by a job that was stopped as it cleaned up.
    await this.connection.run('DETACH DATABASE IF EXISTS analytics');
    try {
      if (this.#analyticsPath === undefined) throw new Error('this process may not read the database analytics');
      await this.connection.run(`ATTACH ${sqlString(this.#analyticsPath)} AS analytics (READ_ONLY)`);
    } catch (cause) {
      throw new AppError('sql_error', 'the database analytics cannot be opened now', {
        hint: 'another process may be writing it; try again when it has closed the file',
        cause,
      });
    }
    return { [Symbol.asyncDispose]: () => this.connection.tidy('DETACH DATABASE IF EXISTS analytics') };
  }

  /** `wanted` are copies that the same query reads. */
  async #relation({ source }: QueryTable, wanted: ReadonlySet<string>): Promise<string> {
    if (source.kind !== 'warm') return fixedRelation(source);
    const known = this.#warmNames.get(source.path);
    if (known !== undefined) {
      this.#warmNames.delete(source.path);
      this.#warmNames.set(source.path, known);
      return known;
    }
    await this.#closeWarmFiles(
      (path) => !wanted.has(path) && (this.#warmNames.size >= mostWarmFiles || !existsSync(path)),
    );
    // No tenant, and so no schema, has a name that begins so.
    const name = `_warm_${++this.#warmNumber}`;
    try {
      await this.connection.run(`ATTACH ${sqlString(source.path)} AS ${name} (READ_ONLY)`);
    } catch (error) {
      if (!(error instanceof DuckDbError) || error.interrupted) throw error;
      return partsRelation(source.parts, source.columns);
    }
    const relation = `${name}.main.frame`;
    this.#warmNames.set(source.path, relation);
    return relation;
  }

  /**
   * DuckDB's Parquet reader leaves a NULL item behind where a list is NULL, and functions such as list_distance read all items,
   * also those outside of lists. A slice of everything has only the items of its lists.
   */
  async #withoutNullItems(relation: string): Promise<string> {
    using statement = await this.connection.prepare(`SELECT * FROM ${relation}`);
    const lists = statement.columns.filter(({ typeId }) => typeId === duckdbType.LIST).map(({ name }) => sqlName(name));
    if (lists.length === 0) return relation;
    return `(SELECT * REPLACE (${lists.map((name) => `${name}[:] AS ${name}`).join(', ')}) FROM ${relation})`;
  }

  async #dropViews(): Promise<void> {
    for (const name of this.#views.keys()) {
      // Forgotten first: a remembered view is not made again.
      this.#views.delete(name);
      await this.connection.run(`DROP VIEW IF EXISTS ${name}`);
    }
  }

  /** Removed copies would keep their disk space for as long as they are open here. */
  async #closeWarmFiles(isUnwanted: (path: string) => boolean): Promise<void> {
    for (const [path, relation] of this.#warmNames) {
      if (!isUnwanted(path)) continue;
      this.#warmNames.delete(path);
      this.kept.clear();
      await this.connection.tidy(`DETACH DATABASE IF EXISTS ${relation.slice(0, relation.indexOf('.'))}`);
    }
  }
}

function wantedCopies(tables: readonly QueryTable[]): ReadonlySet<string> {
  return new Set(tables.flatMap(({ source }) => (source.kind === 'warm' ? source.path : [])));
}

/** With the numbers of rows as a last column. Undefined where they can only be counted. */
function numberedRelation({ source }: QueryTable, relation: string, own: readonly string[]): string | undefined {
  if (source.kind === 'numbered') return `(SELECT *, ${sqlName(source.number)} AS ${rowIdName} FROM ${relation})`;
  if (source.kind !== 'parquet' && source.kind !== 'warm') return undefined;
  // The copy's own: it has the rows in their order.
  const isCopy = source.kind === 'warm' && relation.startsWith('_warm_');
  if (isCopy) return `(SELECT *, ${rowIdName} FROM ${relation})`;
  return numberedRows(source.parts, source.columns, { own, number: rowIdName });
}

/** The place where a query runs. */
export type QueryPlace = Pick<
  SqlCatalog,
  | 'connection'
  | 'kept'
  | 'settings'
  | 'show'
  | 'showNumbered'
  | 'copyTables'
  | 'defineTables'
  | 'shownNames'
  | 'openAnalytics'
  | 'dropLive'
>;

/** The source of a query's name. */
export function viewName(table: Pick<QueryTable, 'name' | 'schema'>): string {
  return `${schemaName(table)}.${sqlName(table.name)}`;
}

function schemaName({ schema }: Pick<QueryTable, 'schema'>): string {
  return `framehold.${sqlName(schema ?? 'frames')}`;
}

/** The relation with the types that SQL declared. */
function asDeclared(relation: string, { casts = [] }: Pick<QueryTable, 'casts'>): string {
  if (casts.length === 0) return relation;
  const items = casts.map(({ column, type }) => `${declaredValue(sqlName(column), type)} AS ${sqlName(column)}`);
  return `(SELECT * REPLACE (${items.join(', ')}) FROM ${relation})`;
}

function fixedRelation(source: Exclude<QueryTable['source'], { kind: 'warm' }>): string {
  switch (source.kind) {
    case 'parquet':
      return partsRelation(source.parts, source.columns);
    case 'range':
      return rowsRelation(source.rows);
    case 'numbered':
      return numberedParts(source.parts, source.columns, { name: source.number });
    case 'changes': {
      const all = parquetRelation([source]);
      return source.hidden.length === 0
        ? all
        : `(SELECT * EXCLUDE (${source.hidden.map(sqlName).join(', ')}) FROM ${all})`;
    }
    case 'defined':
      return definedRelation(source);
    case 'list':
      return listRelation(source);
    case 'view':
      return viewRelation(source);
    case 'live':
      return liveRelation(source);
    default:
      return source satisfies never;
  }
}

/** Conditions of a query around it stop at a LIMIT. */
function viewRelation({ sql, columns, isBarrier }: Extract<QueryTable['source'], { kind: 'view' }>): string {
  const rows = `(SELECT ${columns.map(sqlName).join(', ')} FROM (\n${sql}\n) AS rows`;
  return `${rows}${isBarrier ? ` LIMIT ${allRows}` : ''})`;
}

function definedRelation({ columns }: Extract<QueryTable['source'], { kind: 'defined' }>): string {
  const names = uniqueNames(columns.map(({ name }) => name));
  const items = columns.map(
    ({ type, declared }, index) => `CAST(NULL AS ${sqlTypeName(declared ?? type)}) AS ${sqlName(names[index] ?? '')}`,
  );
  return `(SELECT ${items.join(', ')} WHERE false)`;
}

function listRelation({ columns, rows }: ListTable): string {
  const json = JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]]))));
  const form = JSON.stringify([Object.fromEntries(columns.map((name) => [name, 'VARCHAR']))]);
  return `(SELECT unnest(from_json(${sqlString(json)}, ${sqlString(form)}), recursive := true))`;
}
