import { AppError } from '../../core/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../core/engine-names.ts';
import type { JobOptions } from '../../core/frame-engine.ts';
import { isSharedName, maySeeQuery, splitSharedName } from '../../core/frame-name.ts';
import { liveSchema } from '../../core/live-read.ts';
import type { LiveTables } from '../../core/live-tables.ts';
import type { Principal } from '../../core/principal.ts';
import {
  analyticsCatalog,
  framesCatalog,
  framesSchema,
  type Listed,
  type ListedTable,
  mainSchema,
  type Query,
  type SqlEngine,
  temporaryCatalog,
} from '../../core/sql.ts';
import type { ViewDefinition } from '../../frames/disk/manifest.ts';
import type { Frames } from '../../frames/frames.ts';
import type { CallOptions } from '../frame-sql.ts';
import { definitionsOf } from './definitions-in.ts';
import { quoted } from './frame-tables.ts';

interface ListedSources {
  readonly frames: Pick<Frames, 'list' | 'definitions'>;
  readonly engine: Pick<SqlEngine, 'analyticsTables'>;
  readonly live?: Pick<LiveTables, 'list'> | undefined;
}

/** All that a caller may read or use, as DuckDB's catalogs are to show it. A damaged frame is no table: it cannot be read. */
export async function listedInCatalogs(
  { frames, engine, live }: ListedSources,
  principal: Principal,
  { temporary, ...rest }: CallOptions,
  query?: Pick<Query, 'sql'>,
): Promise<Listed> {
  const options = { ...rest, tenant: principal.tenant };
  const definitions = await definitionsOf(frames, principal, temporary);
  const listed: ListedTable[] = [];
  const names = new Map([...(temporary?.handles ?? [])].map(([own, handle]) => [handle as string, own]));
  for await (const frame of frames.list(principal)) {
    if (frame.state !== 'held') continue;
    const { columns, declared, constraints, handle, view } = frame;
    const kind = view === undefined ? 'table' : 'view';
    const shared = isSharedName(handle) ? splitSharedName(handle) : undefined;
    const own = names.get(handle);
    const place =
      own === undefined
        ? { catalog: framesCatalog, schema: shared?.owner ?? framesSchema, name: shared?.handle ?? handle }
        : { catalog: temporaryCatalog, schema: mainSchema, name: own };
    const isShown = view !== undefined && maySeeQuery(principal, handle, view.reads);
    const sql = isShown
      ? viewStatement(`${own === undefined ? '' : 'TEMP '}VIEW ${quoted(place.name)}`, view)
      : undefined;
    // Spread, the objects of thousands of frames take half as long again.
    const { catalog, schema, name } = place;
    listed.push({ catalog, schema, name, kind, sql, columns, declared, constraints });
  }
  if (live !== undefined && mayUseEngine(principal, tsdbEngineName)) {
    for (const { name, columns } of await live.list({
      ...options,
      isNeeded: query !== undefined && listsLive.test(query.sql),
    }))
      listed.push({ catalog: framesCatalog, schema: liveSchema, name, kind: 'table', columns });
  }
  if (!mayUseEngine(principal, analyticsCatalog)) return { tables: listed, definitions };
  for (const table of await analyticsTables(engine, options)) listed.push({ catalog: analyticsCatalog, ...table });
  return { tables: listed, definitions };
}

/** They are what it asks for. */
const listsLive = new RegExp(
  `^\\s*SHOW\\s+TABLES\\s+FROM\\s+(?:"?${framesCatalog}"?\\s*\\.\\s*)?"?${liveSchema}"?\\s*$`,
  'i',
);

/** The statement that makes the view, with the query as its author wrote it. */
function viewStatement(head: string, { sql, query }: ViewDefinition): string {
  const end = query.slice(query.lastIndexOf('\n) AS "'));
  const columns = /^\n\) AS "(?:[^"]|"")*"(\(.*\))$/s.exec(end)?.[1];
  return `CREATE ${head}${columns === undefined ? '' : ` ${columns}`} AS ${sql};`;
}

/** While another process writes the operator's database it cannot be opened: that hides its tables, not the frames. */
async function analyticsTables(
  engine: Pick<SqlEngine, 'analyticsTables'>,
  options: JobOptions,
): ReturnType<SqlEngine['analyticsTables']> {
  try {
    return await engine.analyticsTables(options);
  } catch (error) {
    if (error instanceof AppError && error.code === 'sql_error') return [];
    throw error;
  }
}
