import type { Column } from '@framehold/columns';
import type { Cleanup } from '../../core/async/cleanup.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { inSpan } from '../../core/logs/span.ts';
import { mayUseEngine } from '../../core/names/engine-names.ts';
import type { Handle } from '../../core/names/handle.ts';
import { isLiveTable, type LiveRead } from '../../core/sql/live-read.ts';
import {
  analyticsCatalog,
  type FrameTable,
  isAnalytics,
  type Query,
  type SqlJob,
  type SqlRun,
  type SqlTable,
  type TableName,
  tableText,
  type ViewTable,
} from '../../core/sql/sql.ts';
import { sharedSchema } from '../../core/sql/table-name.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { StatementRun } from '../statement-run.ts';
import { describedTable, differsInCase, tableOf } from './frame-tables.ts';
import { LiveSources } from './live-sources.ts';
import { openFrame, openTemporary } from './open-frame.ts';
import { engineSchema, frameBehind, tableKey } from './table-names.ts';
import { temporaryHandle } from './temporary-tables.ts';
import { type Place, ViewOpener, type ViewTables } from './view-opener.ts';

export type OpenJob = Omit<SqlJob, 'tables'> & Pick<SqlRun, 'parameters' | 'toRow' | 'countAll'>;

/** Opens the tables of one statement. */
export class TableOpener implements ViewTables {
  readonly #call: StatementRun;
  readonly #caller: Principal;
  readonly #cleanup: Cleanup;
  /** By the engine's name for them, in lower case; a view is behind the tables that it reads. */
  readonly #opened = new Map<string, FrameTable | ViewTable>();
  /** Readers and their tables: the caller, or the views of a tenant. */
  readonly #allowed = new Set<string>();
  /** Which of them are of the caller's session alone. */
  readonly #temporary = new Set<string>();
  /** By `owner/handle`: a frame has one version for the whole statement. */
  readonly #readers = new Map<string, FrameReader>();
  /** The statement reads no rows. */
  #describes = false;
  readonly #live: LiveSources;
  readonly #views: ViewOpener;

  constructor(call: StatementRun, cleanup: Cleanup) {
    this.#call = call;
    this.#caller = call.principal;
    this.#cleanup = cleanup;
    this.#live = new LiveSources(call);
    this.#views = new ViewOpener(call, this);
  }

  get tables(): readonly (FrameTable | ViewTable)[] {
    return [...this.#opened.values()];
  }

  get described(): readonly SqlTable[] {
    return [...this.#live.described, ...this.tables];
  }

  async withRows(job: OpenJob, beside: readonly SqlTable[] = []): Promise<readonly SqlTable[]> {
    const { tables, described } = this;
    if (described.length === tables.length) return tables;
    const { query, settings, parameters, countAll } = job;
    // The rows of several bindings of parameters stand one behind the other.
    const isCut = parameters === undefined && countAll !== true && query.explain === undefined;
    const statement = { settings, toRow: isCut ? job.toRow : undefined };
    if (query.explain?.isAnalyzed === false) return [...this.#live.planned(statement), ...tables];
    // A wrong statement must be refused before rows are fetched for it.
    const { engine, options, job: call } = this.#call;
    await engine.describe({ ...job, tables: [...described, ...beside] }, call);
    const { span, costs } = options;
    const fetch = () => inSpan(span, 'fetch tsdb', () => this.#live.fetch(statement));
    const live = await (costs === undefined ? fetch() : costs.waiting(fetch));
    for (const file of live.files) this.#cleanup.use(file);
    options.onLive?.(live.report);
    return [...live.tables, ...tables];
  }

  async openAll(query: Query, viewMade: string | undefined): Promise<void> {
    this.#describes = query.describesTables === true;
    const place = { principal: this.#caller, views: viewMade === undefined ? [] : [viewMade] };
    await this.addLive(query, place);
    for (const table of query.tables) {
      await this.open(table, place);
      const views = this.tables.filter((opened) => opened.kind === 'view');
      if (query.explain !== undefined && views.some(({ isBarrier }) => isBarrier)) throw hiddenPlan(table);
    }
    if (viewMade === undefined) return;
    const name = viewMade.slice(viewMade.indexOf('/') + 1);
    this.#views.sizes.measure(viewMade, query.sql, this.tables, { name, position: undefined });
  }

  async addLive({ live }: Query, { views, isHidden = false }: Place): Promise<void> {
    for (const read of live?.reads ?? []) {
      await this.#live.add(views.length === 0 ? read : insideView(read), { isHidden });
    }
  }

  liveColumns(read: LiveRead): readonly Column[] {
    return this.#live.columnsOf(read);
  }

  async open(table: TableName, place: Place): Promise<FrameTable | ViewTable | undefined> {
    if (isLiveTable(table)) return undefined;
    if (isAnalytics(table)) {
      if (!mayUseEngine(this.#caller, analyticsCatalog)) throw tableNotFound(table);
      return undefined;
    }
    this.#refuseFurther(table, place);
    const key = tableKey({ name: table.name, schema: engineSchema(table) });
    const temporary = place.views.length === 0 ? temporaryHandle(this.#call.options.temporary, table) : undefined;
    const isTemporary = temporary !== undefined;
    if (this.#opened.has(key) && this.#temporary.has(key) !== isTemporary) throw twoOfOneName(table);
    if (isTemporary) this.#temporary.add(key);
    const before = this.#opened.get(key);
    // Rights of a view do not hold for its reader.
    const known = `${place.views.length === 0 ? '' : place.principal.tenant} ${key}`;
    if (before?.name === table.name && this.#allowed.has(known)) return before;
    const reader = await this.#reader(table, place.principal, temporary);
    const next =
      reader.view === undefined
        ? await this.#frameTable(reader, table, place)
        : await this.#views.open(reader, reader.view, table, place);
    if (before !== undefined && before.versionId !== next.versionId) throw differsInCase(before.name, table.name);
    this.#allowed.add(known);
    // Another view may read it without a barrier, which its reader still needs.
    const opened = before?.kind === 'view' && before.isBarrier ? before : next;
    this.#opened.set(key, opened);
    return opened;
  }

  /** A share is for its reader alone, who cannot pass it on by a view over it. */
  #refuseFurther(table: TableName, { principal: { tenant }, views }: Place): void {
    if (views.length === 0 || tenant === this.#caller.tenant || (sharedSchema(table) ?? tenant) === tenant) return;
    throw tableNotFound(table);
  }

  async #reader(table: TableName, principal: Principal, temporary: Handle | undefined): Promise<FrameReader> {
    const { frames, options } = this.#call;
    const reader =
      temporary === undefined
        ? await openFrame(frames, principal, table, options)
        : await openTemporary(frames, principal, { table, handle: temporary }, options);
    const frame = frameBehind(reader.handle, principal, table);
    const known = this.#readers.get(frame);
    if (known === undefined) {
      this.#readers.set(frame, this.#cleanup.use(reader));
      return reader;
    }
    await reader[Symbol.asyncDispose]();
    return known;
  }

  async #frameTable(reader: FrameReader, table: TableName, { principal, views }: Place): Promise<FrameTable> {
    const owner = sharedSchema(table) ?? principal.tenant;
    const names = { name: table.name, schema: engineSchema(table), owner };
    const opened = await tableOf(reader, this.#caller.tenant, names);
    return this.#describes && views.length === 0 ? { ...opened, definition: describedTable(reader) } : opened;
  }
}

/** A cut of a statement's whole result does not hold for a view in it. */
function insideView({ limit, ...read }: LiveRead): LiveRead {
  return { ...read, position: undefined, ...(limit?.rows !== undefined && { limit }) };
}

/** A query finds its tables by their names. */
function twoOfOneName({ name, position }: TableName): AppError {
  const message = `the temporary table ${JSON.stringify(name)} and the frame of that name are read in one statement`;
  return new AppError('sql_error', message, { hint: 'copy one of them under another name', position });
}

/** As of a database without tables. */
function tableNotFound(table: TableName): AppError {
  return new AppError('sql_error', `table ${tableText(table)} not found`, { position: table.position });
}

function hiddenPlan(table: TableName): AppError {
  return new AppError(
    'sql_forbidden',
    `${tableText(table)} is a view, whose plan would show frames that you may not read`,
    {
      hint: 'DESCRIBE shows its columns',
      position: table.position,
    },
  );
}
