import { AppError } from '../../core/errors/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../core/names/engine-names.ts';
import type { LiveRead } from '../../core/sql/live-read.ts';
import type { LiveDescription, LiveFile, LiveReport, LiveStatement, LiveTables } from '../../core/sql/live-tables.ts';
import type { LiveTable } from '../../core/sql/sql.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { StatementRun } from '../statement-run.ts';

/** A table of the external database, or a query there, with all places where a statement and its views read it. */
interface LiveSource {
  readonly described: LiveDescription;
  readonly reads: LiveRead[];
  /** Its reads are behind a view that hides them from the caller. */
  isHidden: boolean;
}

/** The reads of the external database in one statement. */
export class LiveSources {
  readonly #call: StatementRun;
  /** By the engine's name for them, in lower case. */
  readonly #sources = new Map<string, LiveSource>();

  constructor(call: StatementRun) {
    this.#call = call;
  }

  /** Looks up its columns. The caller must be granted the database, also for a view of another tenant. */
  async add(read: LiveRead, { isHidden }: { readonly isHidden: boolean }): Promise<void> {
    const tables = this.#granted(read.position);
    const key = keyOf(read);
    const known = this.#sources.get(key);
    if (known !== undefined && known.reads[0]?.query !== read.query) throw new Error('two queries have the same name');
    if (known === undefined) {
      const described = await tables.describe(read, this.#call.job).catch((error: unknown) => {
        throw isHidden ? withoutNames(error) : error;
      });
      this.#sources.set(key, { described, reads: [read], isHidden });
      return;
    }
    known.reads.push(read);
    known.isHidden ||= isHidden;
  }

  /** Their columns, and no rows. */
  get described(): readonly LiveTable[] {
    return [...this.#sources.values()].map(({ described, reads }) => liveTable(reads, described));
  }

  columnsOf(read: LiveRead): LiveDescription['columns'] {
    return this.#sources.get(keyOf(read))?.described.columns ?? [];
  }

  /** The same with the requests that would be sent. */
  planned(statement: LiveStatement): readonly LiveTable[] {
    return [...this.#sources.values()].map(({ described, reads }) => {
      const plan = this.#granted(undefined).plan(described, reads, statement);
      return { ...liveTable(reads, described), note: `${plan.pushed}; not read` };
    });
  }

  /** The rows that the statement needs, valid until the files are disposed of. */
  async fetch(statement: LiveStatement): Promise<{
    readonly tables: readonly LiveTable[];
    readonly files: readonly LiveFile[];
    readonly report: LiveReport;
  }> {
    const files: LiveFile[] = [];
    const failures: unknown[] = [];
    const tables = await Promise.all(
      [...this.#sources.values()].map(async (source): Promise<LiveTable & { readonly pushed: string }> => {
        const { described, reads } = source;
        const plan = this.#granted(undefined).plan(described, reads, statement);
        const pushed = source.isHidden ? 'a view' : plan.pushed;
        if (reads.every(({ isDescribed }) => isDescribed)) return { ...liveTable(reads, described), pushed };
        try {
          const file = await this.#granted(undefined).fetch(plan, this.#call.job);
          files.push(file);
          const note = `${pushed}; ${file.rows} rows, ${file.bytes} bytes, as of ${file.readAt.toISOString()}`;
          return { ...liveTable(reads, plan), path: file.path, note, pushed };
        } catch (error) {
          failures.push(source.isHidden ? withoutNames(error) : error);
          return { ...liveTable(reads, plan), pushed };
        }
      }),
    );
    if (failures.length > 0) {
      await Promise.all(files.map((file) => file[Symbol.asyncDispose]()));
      throw failures[0];
    }
    const report = {
      rows: files.reduce((sum, { rows }) => sum + rows, 0),
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      pushed: tables.map(({ pushed }) => pushed),
    };
    return { tables, files, report };
  }

  /** A database that is not granted is as if there were none. */
  #granted(position: number | undefined): LiveTables {
    const { live, principal } = this.#call;
    if (live !== undefined && mayUseEngine(principal, tsdbEngineName)) return live;
    throw new AppError('tsdb_not_configured', 'no external database is configured for tables of the schema tsdb', {
      hint: 'set FRAMEHOLD_TSDB_HTTP_URL (or SERVICE_TSDB_HTTP_URL) to the base URL of a QuestDB, e.g. http://127.0.0.1:9001',
      position,
    });
  }
}

function liveTable(reads: readonly LiveRead[], { columns }: Pick<LiveTable, 'columns'>): LiveTable {
  const { schema = '', name = '' } = reads[0] ?? {};
  return { kind: 'live', schema: asciiLower(schema), name, columns };
}

function keyOf({ schema, name }: LiveRead): string {
  return JSON.stringify([asciiLower(schema), asciiLower(name)]);
}

function withoutNames(error: unknown): unknown {
  if (!(error instanceof AppError) || !['sql_error', 'too_large', 'unsupported_type'].includes(error.code))
    return error;
  const message = 'a view cannot be read now';
  return error.with({ message, hint: 'ask its owner to look at it', position: undefined, cause: error });
}
