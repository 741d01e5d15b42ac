import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { localEngineName, mayUseEngine } from '../core/names/engine-names.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import { isHandle } from '../core/names/handle.ts';
import { type AnalyzeOptions, isAnalytics, type SqlEngine, type Statement, type TableName } from '../core/sql/sql.ts';
import { frameNameOf, sharedSchema } from '../core/sql/table-name.ts';
import type { Frames } from '../frames/frames.ts';
import type { CallOptions, EngineChoice } from './frame-sql.ts';
import { definitionsIn } from './tables/definitions-in.ts';
import { findFrame } from './tables/frame-tables.ts';

export interface AutoEngineOptions {
  readonly frames: Pick<Frames, 'describe' | 'list' | 'definitions'>;
  readonly local: Pick<SqlEngine, 'analyze'>;
  /** The engine of large statements. Undefined: they stay local. */
  readonly cluster: { readonly name: string; readonly sql: Pick<SqlEngine, 'analyze'> } | undefined;
  readonly thresholdBytes: number;
}

const onlyLocal: Partial<Record<Statement['kind'], string>> = {
  alter: 'it changes the definition of a frame',
  change: 'it changes rows of a frame',
  createView: 'it makes a view',
  define: 'it names a macro or type',
  undefine: 'it drops a macro or type',
  insert: 'it adds rows to a frame',
  drop: 'it reads no rows',
  showTables: 'it reads no rows',
};

/** Keeps statements local as long as the frames that they read are small. */
export class AutoEngine {
  readonly #options: AutoEngineOptions;

  constructor(options: AutoEngineOptions) {
    this.#options = options;
  }

  async choose(principal: Principal, sql: string, { signal, lane, temporary }: CallOptions): Promise<EngineChoice> {
    const { local, thresholdBytes } = this.#options;
    const cluster = this.#clusterFor(principal);
    const definitions = await definitionsIn(this.#options.frames, principal, sql, temporary);
    const job = { signal, lane, tenant: principal.tenant, definitions };
    const choice = (engine: string, reason: string, statement?: Statement): EngineChoice => {
      return { sql, engine, reason: `auto: ${reason}`, isElsewhere: engine !== localEngineName, statement };
    };
    const stay = (reason: string, statement?: Statement) => choice(localEngineName, reason, statement);
    if (cluster === undefined) return stay('no engine is set for larger statements (sql.auto_engine)');
    const { name } = cluster;
    const here = await analyse(local, sql, job);
    if (typeof here === 'string') {
      const there = await analyse(cluster.sql, sql, job);
      // A text that no engine accepts is left to local, which gives the best error.
      if (there === 'refused') return stay(`neither local nor ${name} takes what it says`);
      if (there === 'unknown') return stay(`it does not take what it says, and ${name} cannot be asked`);
      return choice(name, `only ${name} takes what it says`, there);
    }
    const reason = onlyLocal[here.kind];
    if (reason !== undefined || !('query' in here)) return stay(reason ?? 'it reads no rows', here);
    const { tables, usesDefinitions } = here.query;
    // There a function of that name may be another one.
    if (usesDefinitions) return stay('it uses a macro or a type', here);
    if (here.query.live !== undefined) return stay('it reads the external database, which only local does', here);
    if (tables.some(isAnalytics)) return stay('it reads the database analytics, which is here', here);
    const bytes = await this.#storedBytes(principal, tables, signal);
    if (bytes === undefined) return stay('a table that it names is not there', here);
    if (bytes === 'view') return stay('it reads a view', here);
    const limit = `sql.auto_threshold of ${shownBytes(thresholdBytes)}`;
    if (bytes < thresholdBytes) return stay(`it reads frames of ${shownBytes(bytes)}, below the ${limit}`, here);
    const there = await analyse(cluster.sql, sql, job);
    if (there === 'refused') return stay('only local takes what it says', here);
    if (there !== 'unknown' && 'query' in there && there.query.isDescribed)
      return stay('it asks for columns alone', here);
    const isLarge = `it reads frames of ${shownBytes(bytes)}, not below the ${limit}`;
    return choice(name, isLarge, there === 'unknown' ? undefined : there);
  }

  #clusterFor(principal: Principal): AutoEngineOptions['cluster'] {
    const { cluster } = this.#options;
    return cluster !== undefined && mayUseEngine(principal, cluster.name) ? cluster : undefined;
  }

  /** Bytes of all frames together, each counted once. Undefined if one is missing; `view` if one is a view. */
  async #storedBytes(
    principal: Principal,
    tables: readonly TableName[],
    signal: AbortSignal,
  ): Promise<number | 'view' | undefined> {
    let bytes = 0;
    for (const table of new Map(tables.map((each) => [`${sharedSchema(each)}.${each.name}`, each])).values()) {
      const stored = await this.#bytesOf(principal, table, signal);
      if (typeof stored !== 'number') return stored;
      bytes += stored;
    }
    return bytes;
  }

  async #bytesOf(principal: Principal, table: TableName, signal: AbortSignal): Promise<number | 'view' | undefined> {
    const { frames } = this.#options;
    if (!isHandle(table.name)) return undefined;
    const name = frameNameOf(principal.tenant, table);
    const describe = async (handle: FrameName): Promise<number | 'view' | undefined> => {
      try {
        const frame = await frames.describe(principal, handle, { signal });
        if (frame.state !== 'held') return undefined;
        return frame.view === undefined ? frame.bytes : 'view';
      } catch (error) {
        const isAbsent =
          error instanceof AppError && ['handle_not_found', 'handle_gone', 'invalid_handle'].includes(error.code);
        if (isAbsent) return undefined;
        throw error;
      }
    };
    const exact = await describe(name);
    if (exact !== undefined) return exact;
    const alike = await findFrame(frames, principal, table);
    return alike === undefined || alike === name ? undefined : await describe(alike);
  }
}

/** An engine's analysis of a text, or whether it refuses it or is unreachable. */
async function analyse(
  engine: Pick<SqlEngine, 'analyze'>,
  sql: string,
  job: AnalyzeOptions,
): Promise<Statement | 'refused' | 'unknown'> {
  try {
    return await engine.analyze(sql, job);
  } catch (error) {
    if (isRefusal(error)) return 'refused';
    if (error instanceof AppError && outOfReach.has(error.code)) return 'unknown';
    throw error;
  }
}

const outOfReach: ReadonlySet<AppError['code']> = new Set(['engine_unreachable', 'engine_timeout']);

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'sql_error' || error.code === 'sql_forbidden');
}

/** `51.2 MB`, decimal as everywhere. */
function shownBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`;
}
