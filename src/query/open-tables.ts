import { AppError, type AppErrorOptions } from '../core/app-error.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import type { Column } from '../core/data-type.ts';
import { mayUseEngine } from '../core/engine-names.ts';
import { sharedName } from '../core/frame-name.ts';
import { type Handle, isHandle } from '../core/handle.ts';
import { isLiveTable, type LiveRead } from '../core/live-read.ts';
import type { LiveTables } from '../core/live-tables.ts';
import { LruMap } from '../core/lru-map.ts';
import { asReaderOf, type Principal, type Tenant } from '../core/principal.ts';
import { inSpan } from '../core/span.ts';
import {
  analyticsCatalog,
  type FrameTable,
  framesCatalog,
  framesSchema,
  isAnalytics,
  type Query,
  type SqlEngine,
  type SqlJob,
  type SqlRun,
  type SqlTable,
  type TableName,
  tableText,
  type ViewTable,
} from '../core/sql.ts';
import { frameNameOf, notReadable, schemaOf, sharedSchema } from '../core/table-name.ts';
import { asciiLower } from '../core/text/ascii-lower.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import { columnDifference } from '../frames/catalog/column-difference.ts';
import type { ViewDefinition } from '../frames/disk/manifest.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameReader } from '../frames/read/frame-reader.ts';
import type { CallOptions } from './frame-sql.ts';
import { describedTable, differsInCase, findFrame, isAbsent, quoted, sqlNameOf, tableOf } from './frame-tables.ts';
import { LiveSources } from './live-sources.ts';
import { temporaryGone, temporaryHandle } from './temporary-tables.ts';

/** What a query reads, each at one version until this is disposed of. */
export interface OpenTables extends AsyncDisposable {
  readonly tables: readonly (FrameTable | ViewTable)[];
  /** With what is read of the external database, before the views that may read it: its columns, and no rows. */
  readonly described: readonly SqlTable[];
  /** The same with its rows, for a job over them and the tables beside. */
  withRows(job: OpenJob, beside?: readonly SqlTable[]): Promise<readonly SqlTable[]>;
}

type OpenJob = Omit<SqlJob, 'tables'> & Pick<SqlRun, 'parameters' | 'toRow' | 'countAll'>;

export interface TableSources {
  readonly frames: Frames;
  readonly engine: SqlEngine;
  /** Undefined: no external database is there to be read. */
  readonly live?: LiveTables | undefined;
}

/** Views that read views, one behind the other. */
const mostLevels = 16;
/** Tables that the views of a statement name together, each time that one is named. */
const mostNames = 1000;
/** Of the texts of views together, each time that one is named. */
const mostText = 2 ** 20;

const noTables: OpenTables = {
  tables: [],
  described: [],
  withRows: async () => [],
  [Symbol.asyncDispose]: async () => {},
};

/**
 * Finds and opens the frames and views behind the names of a query; those of the operator's database are not our business.
 * `viewMade`: the view of which it becomes the query, by `owner/handle`.
 */
export async function openTables(
  sources: TableSources,
  principal: Principal,
  query: Query,
  options: CallOptions,
  viewMade?: string,
): Promise<OpenTables> {
  if (query.tables.length === 0 && query.live === undefined) return noTables;
  return Cleanup.scope(async (cleanup) => {
    const opener = new TableOpener(sources, principal, cleanup, options);
    await opener.openAll(query, viewMade);
    const { tables, described } = opener;
    return { tables, described, withRows: (...job) => opener.withRows(...job) };
  });
}

/** Where a name is looked up: by the caller, or for a view by its owner. */
interface Place {
  readonly principal: Principal;
  /** Views around it, each by `owner/handle`. */
  readonly views: readonly string[];
  /** Who runs the statement may not see what is read here. Default false. */
  readonly isHidden?: boolean;
}

/** What a view comes to with all views that it reads. */
interface Size {
  readonly names: number;
  readonly text: number;
}

/** Columns that a view was found to give, by its version and what it reads. */
const checkedViews = new LruMap<true>(1000, 16_000_000);

class TableOpener {
  readonly #sources: TableSources;
  readonly #caller: Principal;
  readonly #cleanup: Cleanup;
  readonly #options: CallOptions;
  /** By what the engine calls them, in lower case; what a view reads stands before it. */
  readonly #opened = new Map<string, FrameTable | ViewTable>();
  /** Who may read which of them: the caller, or the views of a tenant. */
  readonly #allowed = new Set<string>();
  /** Which of them are of the caller's session alone. */
  readonly #temporary = new Set<string>();
  /** By `owner/handle`: a frame has one version for the whole statement. */
  readonly #readers = new Map<string, FrameReader>();
  readonly #sizes = new Map<string, Size>();
  /** The statement reads no rows. */
  #describes = false;
  readonly #live: LiveSources;

  constructor(sources: TableSources, caller: Principal, cleanup: Cleanup, options: CallOptions) {
    this.#sources = sources;
    this.#caller = caller;
    this.#cleanup = cleanup;
    this.#options = options;
    this.#live = new LiveSources(sources.live, caller, options);
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
    // A statement that is wrong is to be told so before rows are fetched for it.
    const call = { ...this.#options, tenant: this.#caller.tenant };
    await this.#sources.engine.describe({ ...job, tables: [...described, ...beside] }, call);
    const live = await inSpan(this.#options.span, 'fetch tsdb', () => this.#live.fetch(statement));
    for (const file of live.files) this.#cleanup.use(file);
    this.#options.onLive?.(live.report);
    return [...live.tables, ...tables];
  }

  get tables(): readonly (FrameTable | ViewTable)[] {
    return [...this.#opened.values()];
  }

  async openAll(query: Query, viewMade: string | undefined): Promise<void> {
    this.#describes = query.describesTables === true;
    const place = { principal: this.#caller, views: viewMade === undefined ? [] : [viewMade] };
    await this.#addLive(query, place);
    for (const table of query.tables) {
      await this.#open(table, place);
      const views = this.tables.filter((opened) => opened.kind === 'view');
      if (query.explain !== undefined && views.some(({ isBarrier }) => isBarrier)) throw hiddenPlan(table);
      if (query.rowIds !== undefined && views.length > 0) throw withoutRowIds(table);
    }
    if (viewMade !== undefined)
      this.#measure(viewMade, query.sql, this.tables, viewMade.slice(viewMade.indexOf('/') + 1), undefined);
  }

  async #addLive({ live }: Query, { views, isHidden = false }: Place): Promise<void> {
    for (const read of live?.reads ?? []) {
      await this.#live.add(views.length === 0 ? read : insideView(read), { isHidden });
    }
  }

  async #open(table: TableName, place: Place): Promise<FrameTable | ViewTable | undefined> {
    if (isLiveTable(table)) return undefined;
    if (isAnalytics(table)) {
      if (!mayUseEngine(this.#caller, analyticsCatalog)) throw tableNotFound(table);
      return undefined;
    }
    const key = tableKey({ name: table.name, schema: engineSchema(table) });
    const temporary = place.views.length === 0 ? temporaryHandle(this.#options.temporary, table) : undefined;
    const isTemporary = temporary !== undefined;
    if (this.#opened.has(key) && this.#temporary.has(key) !== isTemporary) throw twoOfOneName(table);
    if (isTemporary) this.#temporary.add(key);
    const before = this.#opened.get(key);
    // What a view may read its reader may not.
    const known = `${place.views.length === 0 ? '' : place.principal.tenant} ${key}`;
    if (before?.name === table.name && this.#allowed.has(known)) return before;
    const reader = await this.#reader(table, place.principal, temporary);
    const next =
      reader.view === undefined
        ? await this.#frameTable(reader, table, place)
        : await this.#viewTable(reader, reader.view, table, place);
    if (before !== undefined && before.versionId !== next.versionId) throw differsInCase(before.name, table.name);
    this.#allowed.add(known);
    // Another view may read it without a barrier, which its reader still needs.
    const opened = before?.kind === 'view' && before.isBarrier ? before : next;
    this.#opened.set(key, opened);
    return opened;
  }

  async #reader(table: TableName, principal: Principal, temporary: Handle | undefined): Promise<FrameReader> {
    const { frames } = this.#sources;
    const reader =
      temporary === undefined
        ? await openFrame(frames, principal, table, this.#options)
        : await openTemporary(frames, principal, { table, handle: temporary }, this.#options);
    const frame = frameOf(reader, principal, table);
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

  async #viewTable(
    reader: FrameReader,
    view: ViewDefinition,
    table: TableName,
    { principal, views, isHidden = false }: Place,
  ): Promise<ViewTable> {
    const { engine } = this.#sources;
    const { tenant } = this.#caller;
    const { versionId, columns } = reader;
    const frame = frameOf(reader, principal, table);
    const owner = sharedSchema(table) ?? principal.tenant;
    const shown = owner === tenant ? table.name : `${owner}.${table.name}`;
    const position = views.length === 0 ? table.position : undefined;
    if (engine.hasViews !== true) throw viewElsewhere(shown, position);
    if (views.length >= mostLevels || views.includes(frame)) throw tooDeep(shown, position);
    // Behind it are frames that its reader may not see: of another tenant, or without the prefix of the token.
    const isBarrier = owner !== principal.tenant || principal.prefix !== undefined;
    const inner = {
      principal: asReaderOf(principal, owner as Tenant),
      views: [...views, frame],
      isHidden: isHidden || isBarrier,
    };
    const { query, reads } = await this.#reads(view, inner, shown, position).catch((error: unknown) => {
      throw isBarrier ? withoutReason(error, shown, position) : error;
    });
    this.#measure(frame, view.query, reads, shown, position);
    const opened = { kind: 'view', name: table.name, schema: engineSchema(table), frame, versionId, columns } as const;
    const made: ViewTable = { ...opened, query, isBarrier };
    await this.#checkColumns(made, reads, shown, position);
    return made;
  }

  /** What a view says, and what it reads. */
  async #reads(
    view: ViewDefinition,
    place: Place,
    shown: string,
    position: number | undefined,
  ): Promise<{ readonly query: Query; readonly reads: readonly (FrameTable | ViewTable)[] }> {
    const { tenant } = this.#caller;
    const statement = await this.#sources.engine.analyze(view.query, { ...this.#options, tenant });
    if (statement.kind !== 'query') throw new AppError('internal', 'the definition of a view is no query');
    const { query } = statement;
    const reads: (FrameTable | ViewTable)[] = [];
    await this.#addLive(query, place).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
      throw new ViewFault(`view ${shown}: ${error.message}`, { hint: error.hint, position, cause: error });
    });
    for (const read of query.tables) {
      const opened = await this.#open(read, place).catch((error: unknown) => {
        throw whyUnreadable(error, { view: shown, read: read.name, position });
      });
      if (opened !== undefined) reads.push(opened);
    }
    return { query, reads };
  }

  /** Refuses what would take the engine long to plan. */
  #measure(
    frame: string,
    query: string,
    reads: readonly (FrameTable | ViewTable)[],
    shown: string,
    position: number | undefined,
  ): void {
    let [names, text] = [0, query.length];
    for (const read of reads) {
      const times = query.split(fullName(read.frame)).length - 1;
      const { names: innerNames, text: innerText } = this.#sizes.get(read.frame) ?? { names: 0, text: 0 };
      names += times * (1 + innerNames);
      text += times * innerText;
    }
    this.#sizes.set(frame, { names, text });
    if (names <= mostNames && text <= mostText) return;
    throw new ViewFault(`view ${shown} is too large with the views that it reads`, {
      hint: 'make a frame of one of them: CREATE TABLE "x" AS SELECT …',
      position,
    });
  }

  /** A view has the columns that it was made with, or none. */
  async #checkColumns(
    view: ViewTable,
    reads: readonly (FrameTable | ViewTable)[],
    shown: string,
    position: number | undefined,
  ): Promise<void> {
    const live = view.query.live?.reads.map((read) => this.#live.columnsOf(read));
    const key = JSON.stringify([view.versionId, reads.map(({ frame, columns }) => [frame, columns]), live]);
    if (checkedViews.get(key) !== undefined) return;
    const { tenant } = this.#caller;
    const { engine } = this.#sources;
    const changed = (why: string): AppError =>
      new ViewFault(`view ${shown} reads tables whose columns have changed${why}`, {
        hint: view.isBarrier ? 'ask its owner' : 'make it anew: CREATE OR REPLACE VIEW',
        position,
      });
    let found: readonly Column[];
    try {
      const described = await engine.describe(
        { query: view.query, tables: this.described },
        { ...this.#options, tenant },
      );
      found = described.columns;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
      throw changed(view.isBarrier ? '' : `: ${error.message}`);
    }
    // Columns that its tables have got since are not among its own.
    const own = view.columns.map(({ name }) => found.find((column) => column.name === name));
    const missing = view.columns.find((_, at) => own[at] === undefined);
    if (missing !== undefined) throw changed(`: column ${JSON.stringify(missing.name)} is gone`);
    const difference = columnDifference(view.columns, own as readonly Column[]);
    if (difference !== undefined) throw changed(`: ${difference}`);
    checkedViews.set(key, true, key.length);
  }
}

/** Where the whole result of a statement is cut off, that of a view is not. */
function insideView({ limit, ...read }: LiveRead): LiveRead {
  return { ...read, position: undefined, ...(limit?.rows !== undefined && { limit }) };
}

/** The schema of a table in the engine. Undefined: that of the frames. */
export function engineSchema(table: TableName): string | undefined {
  const schema = schemaOf(table);
  return schema === framesSchema ? undefined : schema;
}

/** By what the engine calls it, in any case. */
export function tableKey({ schema, name }: Pick<FrameTable, 'name' | 'schema'>): string {
  return JSON.stringify([schema, asciiLower(name)]);
}

/** `"framehold"."owner"."handle"`: a name that means the same for every reader. */
export function fullName(frame: string): string {
  const at = frame.indexOf('/');
  return [framesCatalog, frame.slice(0, at), frame.slice(at + 1)].map(quoted).join('.');
}

async function openFrame(
  frames: Frames,
  principal: Principal,
  table: TableName,
  options: { readonly signal: AbortSignal },
): Promise<FrameReader> {
  if (isHandle(table.name)) {
    let dropped: AppError | undefined;
    try {
      return await frames.open(principal, frameNameOf(principal.tenant, table), options);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // There is one tenant, so that no schema is another's.
      if (error.code === 'invalid_handle') throw notReadable(table);
      if (error.code === 'handle_gone') dropped = error;
      else if (error.code !== 'handle_not_found') throw error;
    }
    const alike = await findFrame(frames, principal, table);
    if (alike !== undefined) return await frames.open(principal, alike, options);
    if (dropped !== undefined) throw dropped;
  }
  const names: string[] = [];
  for await (const { handle } of frames.list(principal)) names.push(sqlNameOf(handle));
  const name = shownName(table);
  throw new AppError('sql_error', `table ${JSON.stringify(name)} not found${didYouMeanName(name, names)}`, {
    position: table.position,
    hint: 'SHOW TABLES lists the frames',
  });
}

async function openTemporary(
  frames: Frames,
  principal: Principal,
  { table, handle }: { readonly table: TableName; readonly handle: Handle },
  options: { readonly signal: AbortSignal },
): Promise<FrameReader> {
  try {
    return await frames.open(principal, handle, options);
  } catch (error) {
    throw isAbsent(error) ? temporaryGone(table, error) : error;
  }
}

/** A query finds its tables by their names. */
function twoOfOneName({ name, position }: TableName): AppError {
  const message = `the temporary table ${JSON.stringify(name)} and the frame of that name are read in one statement`;
  return new AppError('sql_error', message, { hint: 'copy one of them under another name', position });
}

function frameOf({ handle }: FrameReader, { tenant }: Principal, table: TableName): string {
  return sharedName((sharedSchema(table) ?? tenant) as Tenant, handle);
}

/** Without the schema of one's own frames. */
function shownName(table: TableName): string {
  const owner = sharedSchema(table);
  return owner === undefined ? table.name : `${owner}.${table.name}`;
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

function withoutRowIds({ position }: TableName): AppError {
  return new AppError('sql_error', 'rowid is the number of a row of a frame, and the statement reads a view', {
    hint: 'number the rows: row_number() OVER ()',
    position,
  });
}

function viewElsewhere(view: string, position: number | undefined): AppError {
  return new AppError('sql_forbidden', `${view} is a view, which only the engine local reads`, {
    hint: `send the statement to local, or make a frame there: CREATE TABLE "x" AS FROM ${view}`,
    position,
  });
}

function tooDeep(view: string, position: number | undefined): AppError {
  return new ViewFault(`view ${view} is nested too deeply: at most ${mostLevels} views read each other`, {
    hint: 'make a frame of one of them: CREATE TABLE "x" AS SELECT …',
    position,
  });
}

const absent: ReadonlySet<string> = new Set(['handle_not_found', 'handle_gone', 'sql_error', 'sql_forbidden']);

/** A view that cannot be read as it is. */
class ViewFault extends AppError {
  constructor(message: string, options: AppErrorOptions) {
    super('sql_error', message, options);
  }
}

function whyUnreadable(
  error: unknown,
  { view, read, position }: { readonly view: string; readonly read: string; readonly position: number | undefined },
): unknown {
  if (!(error instanceof AppError) || !absent.has(error.code)) return error;
  const options = { position, cause: error };
  if (error instanceof ViewFault) return new ViewFault(error.message, { ...options, hint: error.hint });
  return new ViewFault(`view ${view} reads table ${read}, which is gone`, {
    ...options,
    hint: 'make the table again, or the view: CREATE OR REPLACE VIEW',
  });
}

const aboutFrames: ReadonlySet<string> = new Set([...absent, 'frame_damaged', 'forbidden', 'invalid_handle']);

/** Who may not see what a view reads is not told of it. */
function withoutReason(error: unknown, view: string, position: number | undefined): unknown {
  if (!(error instanceof AppError) || !aboutFrames.has(error.code)) return error;
  const hint = 'ask its owner to look at it';
  return new ViewFault(`view ${view} cannot be read now`, { position, cause: error, hint });
}
