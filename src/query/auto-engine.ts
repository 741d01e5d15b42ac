import { AppError } from '../core/app-error.ts';
import type { JobOptions } from '../core/frame-engine.ts';
import { type Handle, isHandle } from '../core/handle.ts';
import type { Principal } from '../core/principal.ts';
import { isAnalytics, type SqlEngine, type Statement, type TableName } from '../core/sql.ts';
import type { Frames } from '../frames/frames.ts';
import { localEngineName } from './engine-names.ts';
import type { CallOptions, EngineChoice } from './frame-sql.ts';
import { findHandle } from './frame-tables.ts';

export interface AutoEngineOptions {
  readonly frames: Pick<Frames, 'describe' | 'list'>;
  readonly local: Pick<SqlEngine, 'analyze'>;
  /** Where large statements go. Undefined: they stay local. */
  readonly cluster: { readonly name: string; readonly sql: Pick<SqlEngine, 'analyze'> } | undefined;
  readonly thresholdBytes: number;
}

const onlyLocal: Partial<Record<Statement['kind'], string>> = {
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

  async choose(principal: Principal, sql: string, { signal, lane }: CallOptions): Promise<EngineChoice> {
    const { cluster, thresholdBytes } = this.#options;
    if (cluster === undefined) return local('no engine is set for larger statements (sql.auto_engine)');
    const job = { signal, lane };
    const statement = await this.#analyze(sql, job);
    if (statement === undefined) return await this.#ofForeignText(sql, job, cluster);
    const reason = onlyLocal[statement.kind];
    if (reason !== undefined || !('query' in statement)) return local(reason ?? 'it reads no rows');
    const { tables } = statement.query;
    if (tables.some(isAnalytics)) return local('it reads the database analytics, which is here');
    const bytes = await this.#storedBytes(principal, tables, signal);
    if (bytes === undefined) return local('a table that it names is not there');
    const limit = `sql.auto_threshold of ${shownBytes(thresholdBytes)}`;
    if (bytes < thresholdBytes) return local(`it reads frames of ${shownBytes(bytes)}, below the ${limit}`);
    if ((await readingOf(cluster.sql, sql, job)) === 'refused') return local('only local takes what it says');
    return elsewhere(cluster.name, `it reads frames of ${shownBytes(bytes)}, not below the ${limit}`);
  }

  /** Undefined where the local engine does not take the text. */
  async #analyze(sql: string, job: JobOptions): Promise<Statement | undefined> {
    try {
      return await this.#options.local.analyze(sql, job);
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  /** What nobody is known to take is local's to refuse: it says best why. */
  async #ofForeignText(
    sql: string,
    job: JobOptions,
    { name, sql: engine }: NonNullable<AutoEngineOptions['cluster']>,
  ): Promise<EngineChoice> {
    const reading = await readingOf(engine, sql, job);
    if (reading === 'taken') return elsewhere(name, `only ${name} takes what it says`);
    if (reading === 'refused') return local(`neither local nor ${name} takes what it says`);
    return local(`it does not take what it says, and ${name} cannot be asked`);
  }

  /** Of all frames together, each counted once. Undefined where one is not there. */
  async #storedBytes(
    principal: Principal,
    tables: readonly TableName[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let bytes = 0;
    for (const name of new Set(tables.map((table) => table.name))) {
      const stored = await this.#bytesOf(principal, name, signal);
      if (stored === undefined) return undefined;
      bytes += stored;
    }
    return bytes;
  }

  async #bytesOf(principal: Principal, name: string, signal: AbortSignal): Promise<number | undefined> {
    const { frames } = this.#options;
    if (!isHandle(name)) return undefined;
    const describe = async (handle: Handle): Promise<number | undefined> => {
      try {
        const frame = await frames.describe(principal, handle, { signal });
        return frame.state === 'held' ? frame.bytes : undefined;
      } catch (error) {
        const isAbsent =
          error instanceof AppError && (error.code === 'handle_not_found' || error.code === 'handle_gone');
        if (isAbsent) return undefined;
        throw error;
      }
    };
    const exact = await describe(name);
    if (exact !== undefined) return exact;
    const alike = await findHandle(frames, principal, name);
    return alike === undefined || alike === name ? undefined : await describe(alike);
  }
}

function local(reason: string): EngineChoice {
  return { engine: localEngineName, reason: `auto: ${reason}`, isElsewhere: false };
}

function elsewhere(engine: string, reason: string): EngineChoice {
  return { engine, reason: `auto: ${reason}`, isElsewhere: true };
}

/** What an engine says of a text, where it can be asked. */
async function readingOf(
  engine: Pick<SqlEngine, 'analyze'>,
  sql: string,
  job: JobOptions,
): Promise<'taken' | 'refused' | 'unknown'> {
  try {
    await engine.analyze(sql, job);
    return 'taken';
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
