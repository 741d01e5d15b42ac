import { sqlName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../core/names/engine-names.ts';
import { isSharedName, maySeeQuery, splitSharedName } from '../../core/names/frame-name.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import { liveSchema } from '../../core/sql/live-read.ts';
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
} from '../../core/sql/sql.ts';
import type { ViewDefinition } from '../../frames/disk/manifest.ts';
import type { StatementRun } from '../statement-run.ts';
import { definitionsOf } from './definitions-in.ts';

/** All that a caller may read or use, as DuckDB's catalogs are to show it. A damaged frame is no table: it cannot be read. */
export async function listedInCatalogs(
  { frames, engine, live, principal, options: { temporary }, job }: StatementRun,
  query: Query,
): Promise<Listed> {
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
      ? viewStatement(`${own === undefined ? '' : 'TEMP '}VIEW ${sqlName(place.name)}`, view)
      : undefined;
    // Spread, the objects of thousands of frames take half as long again.
    const { catalog, schema, name } = place;
    listed.push({ catalog, schema, name, kind, sql, columns, declared, constraints });
  }
  if (live !== undefined && mayUseEngine(principal, tsdbEngineName)) {
    for (const { name, columns } of await live.list({ ...job, isNeeded: listsLive.test(query.sql) }))
      listed.push({ catalog: framesCatalog, schema: liveSchema, name, kind: 'table', columns });
  }
  if (!mayUseEngine(principal, analyticsCatalog)) return { tables: listed, definitions };
  for (const table of await analyticsTables(engine, job)) listed.push({ catalog: analyticsCatalog, ...table });
  return { tables: listed, definitions };
}

/** A statement that lists the tables of the external database. */
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
