import type { Answer } from '#client/api.ts';
import { call, getJson, withQuery } from '../api/request.ts';
import { type CompletedFrame, emptyIndex, type FrameIndex, indexOf } from './editor/completion.ts';

const refreshAfterMs = 30_000;
const pageSize = 1000;
const mostFrames = 10_000;

const tablesOfTsdb = 'select table_name, column_name, data_type from information_schema.columns()';
/** The same tables as statements over frames read them. */
const liveTables =
  "select table_name, column_name, data_type from information_schema.columns where table_schema = 'tsdb'";

/** The frames that statements may name, and the tables of the external database beside them, for completion. */
let frameIndex: FrameIndex = emptyIndex;
let listedFrames: readonly CompletedFrame[] = [];
let listedLive: readonly CompletedFrame[] = [];
/** The tables of the external database, which does not know the frames. */
let tsdbIndex: FrameIndex = emptyIndex;
let askedAt = Number.NEGATIVE_INFINITY;
let tsdbAskedAt = Number.NEGATIVE_INFINITY;
let liveAskedAt = Number.NEGATIVE_INFINITY;

/** The names for a statement on this engine. The tables of the external database are listed when the user types. */
export function indexFor(engine: string): FrameIndex {
  if (engine === 'local') refreshLive().catch(() => undefined);
  if (engine !== 'tsdb') return frameIndex;
  refreshTables().catch(() => undefined);
  return tsdbIndex;
}

/** Lists the tables of the external database, if the listing is old. Only for a user who chose it: a link does not. */
export async function refreshTables(): Promise<void> {
  if (performance.now() - tsdbAskedAt < refreshAfterMs) return;
  tsdbAskedAt = performance.now();
  const tables = await tablesOf({ query: tablesOfTsdb, fmt: 'json', engine: 'tsdb', limit: 100_000 });
  tsdbIndex = indexOf(tables);
}

/** Lists the tables of the external database that statements over frames may read: none without such a database. */
async function refreshLive(): Promise<void> {
  if (performance.now() - liveAskedAt < refreshAfterMs) return;
  liveAskedAt = performance.now();
  const tables = await tablesOf({ query: liveTables, fmt: 'json', engine: 'local' });
  // As a frame of a tenant of this name would be listed.
  listedLive = tables.map((table) => ({ ...table, name: `tsdb/${table.name}` }));
  frameIndex = indexOf([...listedFrames, ...listedLive]);
}

async function tablesOf(asked: Parameters<typeof withQuery>[1]): Promise<readonly CompletedFrame[]> {
  const { dataset } = await getJson<{ readonly dataset: readonly (readonly [string, string, string])[] }>(
    withQuery('/exec', asked),
  );
  const columnsByTable = new Map<string, CompletedFrame['columns'][number][]>();
  for (const [table, name, type] of dataset) {
    const columns = columnsByTable.get(table) ?? [];
    columns.push({ name, type });
    columnsByTable.set(table, columns);
  }
  return [...columnsByTable].map(([name, columns]) => ({ name, rows: undefined, columns }));
}

/** Lists them anew where the listing is old, or `isStale` says that a statement changed them. */
export async function refreshFrames({ isStale = false, signal }: { isStale?: boolean; signal?: AbortSignal } = {}) {
  if (!isStale && performance.now() - askedAt < refreshAfterMs) return;
  askedAt = performance.now();
  const frames: CompletedFrame[] = [];
  let after: string | undefined;
  do {
    const page: Answer<'GET /handles'> = await call('GET /handles', { query: { limit: pageSize, after }, signal });
    for (const { handle, rows, columns } of page.handles) frames.push({ name: handle, rows, columns: columns ?? [] });
    after = page.next ?? undefined;
  } while (after !== undefined && frames.length < mostFrames);
  listedFrames = frames;
  frameIndex = indexOf([...listedFrames, ...listedLive]);
}
