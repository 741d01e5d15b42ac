import { ownedName } from '../../core/names/frame-name.ts';
import type { SqlJob, SqlResult } from '../../core/sql/sql.ts';
import type { PutResult } from '../../frames/catalog/frame-summary.ts';
import type { PutRequest } from '../../frames/write/put-frame.ts';
import type { KeepRequest, KeptQuery } from '../frame-sql.ts';
import { retried, type StatementRun } from '../statement-run.ts';
import { openTables } from '../tables/open-tables.ts';
import { listedFor } from './run-query.ts';

type KeptRows = Pick<SqlJob, 'query' | 'constraints' | 'settings'> & Omit<KeptQuery, 'statement'>;

/**
 * Makes a frame of the rows of a query. A frame that the query reads itself is not replaced by rows of an older version: others'
 * writes would be lost.
 */
export async function keepRows(call: StatementRun, kept: KeptRows, request: KeepRequest): Promise<PutResult> {
  return await retried(() => keepOnce(call, kept, request));
}

/** If the engine can write files, it writes the frame's files itself. Otherwise this server writes the rows. */
async function keepOnce(call: StatementRun, kept: KeptRows, request: KeepRequest): Promise<PutResult> {
  const { engine, frames, principal, options } = call;
  const { query, settings, parameters, fromRow = 0, toRow = Infinity, columns } = kept;
  const { handle, mode } = request;
  const { job } = call;
  const isWhole = fromRow === 0 && toRow === Infinity && columns === undefined;
  // Before the engine works for nothing; the put looks again.
  await frames.refusePut(principal, { handle, mode });
  await using opened = await openTables(call, query);
  const listed = await listedFor(call, query);
  const read = opened.tables.find(({ frame }) => handle !== undefined && frame === ownedName(principal.tenant, handle));
  const put = { ...request, replaces: mode === 'overwrite' ? read?.versionId : undefined };
  const tables = await opened.withRows(kept);
  if (engine.write !== undefined && isWhole) {
    await using folder = await frames.incomingFolder(principal);
    const paths = await engine.write({ query, settings, parameters, tables, listed, folder: folder.path }, job);
    const source = { kind: 'parts', paths } as const;
    if (paths.length > 0) return await frames.put(principal, { ...put, source }, options);
  }
  await using result = await engine.run({ ...kept, tables, listed, form: 'arrow', isKept: true }, job);
  return await putResult(call, result, put);
}

/** Puts the rows of a result, with the types that SQL declares for them. */
export async function putResult(
  { frames, principal, options }: StatementRun,
  result: SqlResult,
  request: Omit<PutRequest, 'source'>,
): Promise<PutResult> {
  const source = { kind: 'arrow', stream: result.arrowStream() } as const;
  const types = result.columns.map(({ declared }) => declared ?? null);
  const declared = types.some((type) => type !== null) ? types : undefined;
  return await frames.put(principal, { ...request, source, declared }, options);
}
