import { AppError } from '../../core/errors/app-error.ts';
import { generateHandle, type Handle } from '../../core/names/handle.ts';
import { isViewTaken } from '../../frames/catalog/frame-errors.ts';
import type { AnalysedStatement, SqlUpdate } from '../frame-sql.ts';
import { keepRows } from '../rows/keep-rows.ts';
import type { StatementRun } from '../statement-run.ts';
import { targetFrame } from '../tables/target-frame.ts';
import { ofSession, temporaryExists, temporaryHandle, temporaryTtlMs } from '../tables/temporary-tables.ts';
import { dropTemporary } from './drop.ts';

export type CreateTable = Extract<AnalysedStatement, { kind: 'createTable' }>;

/** CREATE TABLE … AS …, also of the session alone. */
export async function createTable(
  call: StatementRun,
  statement: CreateTable,
  parameters: Uint8Array | undefined,
): Promise<SqlUpdate> {
  const { table, ifTaken, isTemporary, query, constraints, settings } = statement;
  if (isTemporary) return await createTemporary(call, statement, parameters);
  const { handle, isHeld } = await targetFrame(call, table);
  if (ifTaken === 'keep' && isHeld) return { rows: 0, hasChanged: false };
  const mode = ifTaken === 'replace' ? 'overwrite' : 'create';
  const kept = { query, settings, parameters, constraints: constraints && { ...constraints, table: table.name } };
  try {
    const { rows } = await keepRows(call, kept, { handle, mode, constraints });
    return { rows, hasChanged: true };
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === 'handle_exists' && !isViewTaken(error);
    throw isTaken ? tableExists(handle, error) : error;
  }
}

/** A temporary frame, which the session finds by the name. The one that it replaces is dropped after it. */
async function createTemporary(
  call: StatementRun,
  { table, ifTaken, query, constraints, settings }: CreateTable,
  parameters: Uint8Array | undefined,
): Promise<SqlUpdate> {
  const session = ofSession(call.options.temporary, 'TABLE', table);
  const before = temporaryHandle(session, table);
  if (before !== undefined && ifTaken === 'keep') return { rows: 0, hasChanged: false };
  if (before !== undefined && ifTaken === 'fail') throw temporaryExists(table);
  const kept = { query, parameters, constraints: constraints && { ...constraints, table: table.name }, settings };
  const handle = generateHandle();
  const put = { handle, mode: 'create', ttlMs: temporaryTtlMs, constraints } as const;
  const { rows } = await keepRows(call, kept, put);
  session.set(table.name, handle);
  if (before !== undefined) await dropTemporary(call, before);
  return { rows, hasChanged: true };
}

function tableExists(handle: Handle, cause: AppError): AppError {
  return new AppError('handle_exists', `table ${JSON.stringify(handle)} exists`, {
    hint: 'CREATE OR REPLACE TABLE replaces it, INSERT INTO appends to it',
    cause,
  });
}
