import { AppError } from '../core/app-error.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import { mayUseEngine } from '../core/engine-names.ts';
import { isSharedName } from '../core/frame-name.ts';
import { type Handle, isHandle } from '../core/handle.ts';
import type { Principal } from '../core/principal.ts';
import { analyticsCatalog, type FrameTable, isAnalytics, type TableName, tableText } from '../core/sql.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameReader } from '../frames/read/frame-reader.ts';

/** The frames that a query reads, each at one version until this is disposed of. */
export interface OpenTables extends AsyncDisposable {
  readonly tables: readonly FrameTable[];
}

/** Finds and opens the frames behind the names of a query; those of the operator's database are not our business. */
export async function openTables(
  frames: Frames,
  principal: Principal,
  names: readonly TableName[],
  options: { readonly signal: AbortSignal },
): Promise<OpenTables> {
  return Cleanup.scope(async (cleanup) => {
    const opened = new Map<string, FrameTable>();
    for (const table of names) {
      if (isAnalytics(table)) {
        if (!mayUseEngine(principal, analyticsCatalog)) throw tableNotFound(table);
        continue;
      }
      const key = table.name.toLowerCase();
      const before = opened.get(key);
      if (before?.name === table.name) continue;
      const reader = cleanup.use(await openFrame(frames, principal, table, options));
      const next = await frameTable(reader, principal, table.name);
      if (before !== undefined && before.versionId !== next.versionId) throw differsInCase(before.name, table.name);
      opened.set(key, next);
    }
    return { tables: [...opened.values()] };
  });
}

/** The handle that a table's name means: names in SQL are the same in any case, handles are not. */
export async function findHandle(
  frames: Pick<Frames, 'list'>,
  principal: Principal,
  name: string,
): Promise<Handle | undefined> {
  if (!isHandle(name)) return undefined;
  const alike: Handle[] = [];
  for await (const { handle } of frames.list(principal)) {
    if (isSharedName(handle)) continue;
    if (handle === name) return handle;
    if (handle.toLowerCase() === name.toLowerCase()) alike.push(handle);
  }
  if (alike.length > 1) throw differsInCase(...alike);
  return alike[0];
}

async function openFrame(
  frames: Frames,
  principal: Principal,
  { name, position }: TableName,
  options: { readonly signal: AbortSignal },
): Promise<FrameReader> {
  if (isHandle(name)) {
    try {
      return await frames.open(principal, name, options);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'handle_not_found')) throw error;
    }
    const alike = await findHandle(frames, principal, name);
    if (alike !== undefined) return await frames.open(principal, alike, options);
  }
  const handles: string[] = [];
  for await (const { handle } of frames.list(principal)) handles.push(handle);
  throw new AppError('sql_error', `table ${JSON.stringify(name)} not found${didYouMeanName(name, handles)}`, {
    position,
    hint: 'SHOW TABLES lists the frames',
  });
}

async function frameTable(reader: FrameReader, { tenant }: Principal, name: string): Promise<FrameTable> {
  const { handle, versionId, columns, rows, bytes } = reader;
  return {
    kind: 'frame',
    name,
    owner: `${tenant}/${handle}`,
    versionId,
    columns,
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

function differsInCase(...names: readonly string[]): AppError {
  return new AppError('sql_error', `${names.join(' and ')} differ only in case, which SQL does not tell apart`, {
    hint: 'put one of them under another handle, or read it by handle',
  });
}
