import { AppError } from '../core/app-error.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import { mayUseEngine } from '../core/engine-names.ts';
import { type FrameName, isSharedName, ownerPrefix, sharedName, splitSharedName } from '../core/frame-name.ts';
import { isHandle } from '../core/handle.ts';
import type { Principal, Tenant } from '../core/principal.ts';
import {
  analyticsCatalog,
  type FrameTable,
  framesSchema,
  isAnalytics,
  type TableName,
  tableText,
} from '../core/sql.ts';
import { frameNameOf, notReadable, schemaOf, sharedSchema } from '../core/table-name.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameReader } from '../frames/read/frame-reader.ts';
import { type TemporaryTables, temporaryGone, temporaryHandle } from './temporary-tables.ts';

/** The frames that a query reads, each at one version until this is disposed of. */
export interface OpenTables extends AsyncDisposable {
  readonly tables: readonly FrameTable[];
}

export interface OpenTablesOptions {
  readonly signal: AbortSignal;
  readonly temporary?: TemporaryTables | undefined;
}

const noTables: OpenTables = { tables: [], [Symbol.asyncDispose]: async () => {} };

/** Finds and opens the frames behind the names of a query; those of the operator's database are not our business. */
export async function openTables(
  frames: Frames,
  principal: Principal,
  names: readonly TableName[],
  options: OpenTablesOptions,
): Promise<OpenTables> {
  if (names.length === 0) return noTables;
  return Cleanup.scope(async (cleanup) => {
    const opened = new Map<string, FrameTable>();
    const temporary = new Set<string>();
    for (const table of names) {
      if (isAnalytics(table)) {
        if (!mayUseEngine(principal, analyticsCatalog)) throw tableNotFound(table);
        continue;
      }
      const key = `${schemaOf(table)}.${table.name.toLowerCase()}`;
      const before = opened.get(key);
      const isTemporary = temporaryHandle(options.temporary, table) !== undefined;
      if (before !== undefined && temporary.has(key) !== isTemporary) throw twoOfOneName(table);
      if (isTemporary) temporary.add(key);
      if (before?.name === table.name) continue;
      const reader = cleanup.use(await openFrame(frames, principal, table, options));
      const next = await frameTable(reader, principal, table);
      if (before !== undefined && before.versionId !== next.versionId) throw differsInCase(before.name, table.name);
      opened.set(key, next);
    }
    return { tables: [...opened.values()] };
  });
}

/** The frame that a table's name means: names in SQL are the same in any case, handles are not. */
export async function findFrame(
  frames: Pick<Frames, 'list'>,
  principal: Principal,
  table: TableName,
): Promise<FrameName | undefined> {
  if (!isHandle(table.name)) return undefined;
  const wanted = frameNameOf(principal.tenant, table);
  const candidates = isSharedName(wanted)
    ? frames.list(principal, { whose: 'shared', prefix: ownerPrefix(wanted) })
    : frames.list(principal, { whose: 'own' });
  const alike: FrameName[] = [];
  for await (const { handle } of candidates) {
    if (handle === wanted) return handle;
    if (handle.toLowerCase() === wanted.toLowerCase()) alike.push(handle);
  }
  if (alike.length > 1) throw differsInCase(...alike);
  return alike[0];
}

/** As SQL names a frame: `owner.handle` where it is shared. */
export function sqlNameOf(name: FrameName): string {
  return isSharedName(name) ? Object.values(splitSharedName(name)).join('.') : name;
}

async function openFrame(
  frames: Frames,
  principal: Principal,
  table: TableName,
  options: OpenTablesOptions,
): Promise<FrameReader> {
  const temporary = temporaryHandle(options.temporary, table);
  if (temporary !== undefined) {
    try {
      return await frames.open(principal, temporary, options);
    } catch (error) {
      throw isAbsent(error) ? temporaryGone(table, error) : error;
    }
  }
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

export function isAbsent(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'handle_not_found' || error.code === 'handle_gone');
}

/** Without the schema of one's own frames. */
function shownName(table: TableName): string {
  const owner = sharedSchema(table);
  return owner === undefined ? table.name : `${owner}.${table.name}`;
}

async function frameTable(reader: FrameReader, { tenant }: Principal, table: TableName): Promise<FrameTable> {
  const named = schemaOf(table);
  const schema = named === framesSchema ? undefined : named;
  return await tableOf(reader, tenant, { name: table.name, schema, owner: sharedSchema(table) });
}

/** A frame under a name of a query. */
export async function tableOf(
  reader: FrameReader,
  tenant: Tenant,
  {
    name,
    schema,
    owner,
  }: {
    readonly name: string;
    readonly schema: string | undefined;
    /** Default: the tenant. */
    readonly owner?: string | undefined;
  },
): Promise<FrameTable> {
  const { handle, versionId, columns, readAs, rows, bytes } = reader;
  return {
    kind: 'frame',
    name,
    schema,
    frame: sharedName((owner ?? tenant) as Tenant, handle),
    versionId,
    columns,
    readAs,
    rows,
    bytes,
    parts: await reader.sources(tenant),
    hold: () => reader.holdFiles(),
    retired: reader.retired,
  };
}

/** As of a database without tables. */
function tableNotFound(table: TableName): AppError {
  return new AppError('sql_error', `table ${tableText(table)} not found`, { position: table.position });
}

/** A query finds its tables by their names. */
function twoOfOneName({ name, position }: TableName): AppError {
  const message = `the temporary table ${JSON.stringify(name)} and the frame of that name are read in one statement`;
  return new AppError('sql_error', message, { hint: 'copy one of them under another name', position });
}

function differsInCase(...names: readonly string[]): AppError {
  return new AppError('sql_error', `${names.join(' and ')} differ only in case, which SQL does not tell apart`, {
    hint: 'put one of them under another handle, or read it by handle',
  });
}
