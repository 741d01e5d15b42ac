import { join } from 'node:path';
import { sqlName, sqlString } from '@framehold/columns';
import type { Connection, DatabaseOptions } from '@framehold/duckdb';
import { analyticsCatalog, mainSchema, temporaryCatalog } from '../../../../core/sql/sql.ts';
import { statementSettings } from '../../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { CatalogListing, ListedDefinition, WorkerSettings } from '../../protocol/protocol.ts';
import { AppliedSettings } from './applied-settings.ts';
import { PlanCache } from './plan-cache.ts';
import { inOrderOfReferences, refers } from './referring-tables.ts';
import type { QueryPlace } from './sql-catalog.ts';
import { foreignKeyDefinitions, wholeDefinition } from './table-definition.ts';

/** Tables made in one go: about 15 ms, in which the process does nothing else. */
const tablesAtOnce = 100;

/** For sorts and joins of answers; there is nothing else in it. */
const memoryBytes = 256_000_000;

export function mirrorOptions({ tempDirectory }: Pick<WorkerSettings, 'tempDirectory'>): DatabaseOptions {
  return { threads: 1, memoryBytes, tempDirectory: join(tempDirectory, 'catalogs'), maxTempBytes: 0 };
}

/**
 * A DuckDB instance that holds empty copies of all tables that the caller may read, and nothing else. Queries over DuckDB's
 * catalogs run here: its own views answer them, with its own types, and can show nothing but the caller's tables.
 */
export class CatalogMirror {
  readonly connection: Connection;
  readonly kept = new PlanCache();
  readonly settings: AppliedSettings;
  /** By schema and name, in lower case. */
  readonly #shown = new Map<string, ListedDefinition>();
  readonly #schemas = new Set<string>();
  /** Whether it has a database of that name: an empty one is not shown. */
  #hasAnalytics = false;
  #signature: string | undefined;

  private constructor(connection: Connection) {
    this.connection = connection;
    this.settings = new AppliedSettings(connection);
  }

  static async open(connection: Connection): Promise<CatalogMirror> {
    const statements = [
      "ATTACH ':memory:' AS framehold",
      'CREATE SCHEMA framehold.frames',
      'USE framehold.frames',
      'DETACH memory',
      'SET max_expression_depth = 250',
      'SET enable_external_access = false',
      `SET allowed_configs = [${[...Object.keys(statementSettings), 'memory_limit'].map(sqlString).join(', ')}]`,
      'SET lock_configuration = true',
    ];
    for (const sql of statements) await connection.run(sql);
    return new CatalogMirror(connection);
  }

  /** The place where a query over these tables' catalogs runs. */
  showing(listing: CatalogListing, signal: AbortSignal): QueryPlace {
    return {
      connection: this.connection,
      kept: this.kept,
      settings: this.settings,
      show: () => this.#show(listing, signal),
      shownNames: () => new Map(),
      showNumbered: () => Promise.reject(readsNoRows()),
      copyTables: () => Promise.reject(readsNoRows()),
      defineTables: () => Promise.reject(readsNoRows()),
      openAnalytics: () => Promise.reject(readsNoRows()),
      dropLive: async () => {},
    };
  }

  async #show({ signature, tables }: CatalogListing, signal: AbortSignal): Promise<void> {
    if (this.#signature === signature) return;
    if (tables === undefined) throw new Error('the tables that the catalogs are to show are not known');
    this.#signature = undefined;
    const wanted = new Map(tables.map((table) => [keyOf(table), table]));
    await this.#drop(wanted);
    await this.#create(wanted, signal);
    this.#signature = signature;
  }

  /** Also drops tables that are to be made again. */
  async #drop(wanted: ReadonlyMap<string, ListedDefinition>): Promise<void> {
    const gone = [...this.#shown].filter(([key, shown]) => wanted.get(key)?.digest !== shown.digest || refers(shown));
    // Drops a table after the tables that refer to it, which were made later.
    gone.reverse();
    for (const some of inGroups(gone)) {
      if (!this.#runAll(some.map(([, table]) => removal(table)))) throw new Error('a listed table cannot be dropped');
      for (const [key] of some) this.#shown.delete(key);
    }
    const schemas = new Set([...wanted.values()].map(({ schema }) => asciiLower(schema)));
    for (const schema of this.#schemas) {
      if (schemas.has(schema)) continue;
      await this.connection.run(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      this.#schemas.delete(schema);
    }
    if (!this.#hasAnalytics || [...schemas].some(isOfAnalytics)) return;
    await this.connection.run('DETACH DATABASE IF EXISTS analytics');
    this.#hasAnalytics = false;
  }

  async #create(wanted: ReadonlyMap<string, ListedDefinition>, signal: AbortSignal): Promise<void> {
    const missing = [...wanted].filter(([key]) => !this.#shown.has(key));
    if (!this.#hasAnalytics && missing.some(([key]) => isOfAnalytics(key))) {
      await this.connection.run("ATTACH IF NOT EXISTS ':memory:' AS analytics");
      this.#hasAnalytics = true;
    }
    for (const schema of new Set(missing.map(([, table]) => asciiLower(table.schema)))) {
      if (ownSchemas.has(schema) || this.#schemas.has(schema)) continue;
      await this.connection.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      this.#schemas.add(schema);
    }
    for (const some of inGroups(missing.filter(([, table]) => !refers(table)))) {
      // The process hears of a cancel only between two of these.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      for (const [key, table] of some) this.#shown.set(key, table);
      const statements: string[] = [];
      for (const [, table] of some) statements.push(await this.#creation(table));
      if (this.#runAll(statements)) continue;
      // Tables whose constraints DuckDB refuses are shown without them, and do not hide the others.
      for (const [index, [, table]] of some.entries()) {
        if (this.connection.runAtOnce(statements[index] ?? '')) continue;
        this.connection.runAtOnce(creation({ ...table, body: table.otherwise ?? table.body }));
      }
    }
    await this.#createReferring(missing.map(([, table]) => table).filter(refers), signal);
  }

  /** References to missing tables or keys are left out. */
  async #createReferring(tables: readonly ListedDefinition[], signal: AbortSignal): Promise<void> {
    for (const some of inGroups(inOrderOfReferences(tables))) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      for (const table of some) {
        this.#shown.set(keyOf(table), table);
        const [definition, references] = await this.#definition(table);
        if (!this.#makes(table, [...definition, ...references])) this.#createWithSome(table, definition, references);
      }
    }
  }

  #createWithSome(table: ListedDefinition, definition: readonly string[], references: readonly string[]): void {
    const found: string[] = [];
    for (const reference of references) {
      if (!this.#makes(table, [...definition, ...found, reference])) continue;
      found.push(reference);
      this.connection.runAtOnce(removal(table));
    }
    if (!this.#makes(table, [...definition, ...found])) this.connection.runAtOnce(creation(table));
  }

  #makes(table: ListedDefinition, items: readonly string[]): boolean {
    return this.connection.runAtOnce(creation({ ...table, body: items.join(', ') }));
  }

  async #definition({ constrained }: ListedDefinition): Promise<readonly [readonly string[], readonly string[]]> {
    if (constrained === undefined) return [[], []];
    return [await wholeDefinition(this.connection, constrained), foreignKeyDefinitions(constrained.constraints)];
  }

  async #creation(table: ListedDefinition): Promise<string> {
    if (table.constrained === undefined) return creation(table);
    const items = await wholeDefinition(this.connection, table.constrained);
    return creation({ ...table, body: items.join(', ') });
  }

  /** False if one failed: then none has taken effect. */
  #runAll(statements: readonly string[]): boolean {
    if (this.connection.runAtOnce(['BEGIN', ...statements, 'COMMIT'].join(';'))) return true;
    this.connection.runAtOnce('ROLLBACK');
    return false;
  }
}

function readsNoRows(): Error {
  return new Error('a query over catalogs reads no rows of tables');
}

const temporarySchema = [temporaryCatalog, mainSchema].map(sqlName).join('.');

/** Never dropped. */
const ownSchemas: ReadonlySet<string> = new Set(['"framehold"."frames"', '"analytics"."main"', temporarySchema]);

/** Of a schema or a table, in lower case. */
function isOfAnalytics(name: string): boolean {
  return name.startsWith(`${sqlName(analyticsCatalog)}.`);
}

function* inGroups<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += tablesAtOnce) yield items.slice(at, at + tablesAtOnce);
}

const words = {
  table: 'TABLE',
  view: 'VIEW',
  macro: 'MACRO',
  'table macro': 'MACRO TABLE',
  type: 'TYPE',
} as const satisfies Record<ListedDefinition['kind'], string>;

function removal({ schema, name, kind }: ListedDefinition): string {
  return `DROP ${words[kind]} IF EXISTS ${schema}.${name}`;
}

function creation({ schema, name, kind, body }: ListedDefinition): string {
  const temporary = schema === temporarySchema ? 'TEMP ' : '';
  switch (kind) {
    case 'table':
      return `CREATE ${temporary}TABLE ${schema}.${name} (${body})`;
    case 'view':
      return `CREATE ${temporary}VIEW ${schema}.${name} AS ${body}`;
    case 'type':
      return `CREATE TYPE ${schema}.${name} AS ${body}`;
    case 'macro':
    case 'table macro':
      return `CREATE MACRO ${schema}.${name} ${body}`;
    default:
      return kind satisfies never;
  }
}

/** Macros and types have names of their own. */
function keyOf({ schema, name, kind }: ListedDefinition): string {
  const isTable = kind === 'table' || kind === 'view';
  return asciiLower(`${schema}.${name}${isTable ? '' : ` ${kind}`}`);
}
