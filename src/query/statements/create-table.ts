import { AppError } from '../../core/app-error.ts';
import { generateHandle, type Handle } from '../../core/handle.ts';
import type { Principal } from '../../core/principal.ts';
import { isViewTaken } from '../../frames/catalog/frame-errors.ts';
import type { AnalysedStatement, CallOptions, SqlUpdate } from '../frame-sql.ts';
import type { TableSources } from '../tables/table-opener.ts';
import { ofSession, temporaryExists, temporaryHandle, temporaryTtlMs } from '../tables/temporary-tables.ts';
import { dropTemporary } from './drop.ts';
import { keepRows } from './keep-rows.ts';
import { targetFrame } from './target-frame.ts';

export type CreateTable = Extract<AnalysedStatement, { kind: 'createTable' }>;

/** CREATE TABLE … AS …, also of the session alone. */
export async function createTable(
  sources: TableSources,
  principal: Principal,
  statement: CreateTable,
  parameters: Uint8Array | undefined,
  options: CallOptions,
): Promise<SqlUpdate> {
  const { table, ifTaken, isTemporary, query, constraints, settings } = statement;
  if (isTemporary) return await createTemporary(sources, principal, statement, parameters, options);
  const { handle, isHeld } = await targetFrame(sources.frames, principal, table);
  if (ifTaken === 'keep' && isHeld) return { rows: 0, hasChanged: false };
  const mode = ifTaken === 'replace' ? 'overwrite' : 'create';
  const kept = { query, settings, parameters, constraints: constraints && { ...constraints, table: table.name } };
  try {
    const { rows } = await keepRows(sources, principal, kept, { handle, mode, constraints }, options);
    return { rows, hasChanged: true };
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === 'handle_exists' && !isViewTaken(error);
    throw isTaken ? tableExists(handle, error) : error;
  }
}

/** A frame of its own, which the session finds by the name. What it replaces is dropped behind it. */
async function createTemporary(
  sources: TableSources,
  principal: Principal,
  { table, ifTaken, query, constraints, settings }: CreateTable,
  parameters: Uint8Array | undefined,
  options: CallOptions,
): Promise<SqlUpdate> {
  const session = ofSession(options.temporary, 'TABLE', table);
  const before = temporaryHandle(session, table);
  if (before !== undefined && ifTaken === 'keep') return { rows: 0, hasChanged: false };
  if (before !== undefined && ifTaken === 'fail') throw temporaryExists(table);
  const kept = { query, parameters, constraints: constraints && { ...constraints, table: table.name }, settings };
  const handle = generateHandle();
  const put = { handle, mode: 'create', ttlMs: temporaryTtlMs, constraints } as const;
  const { rows } = await keepRows(sources, principal, kept, put, options);
  session.set(table.name, handle);
  if (before !== undefined) await dropTemporary(sources.frames, principal, before);
  return { rows, hasChanged: true };
}

function tableExists(handle: Handle, cause: AppError): AppError {
  return new AppError('handle_exists', `table ${JSON.stringify(handle)} exists`, {
    hint: 'CREATE OR REPLACE TABLE replaces it, INSERT INTO appends to it',
    cause,
  });
}
