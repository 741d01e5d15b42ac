import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { isViewTaken } from '../../frames/catalog/frame-errors.ts';
import type { AnalysedStatement, SqlUpdate } from '../frame-sql.ts';
import { keepRows } from '../rows/keep-rows.ts';
import type { StatementRun } from '../statement-run.ts';
import { createdFrame } from './created-frame.ts';

export type CreateTable = Extract<AnalysedStatement, { kind: 'createTable' }>;

/** CREATE TABLE … AS …, also of the session alone. */
export async function createTable(
  call: StatementRun,
  statement: CreateTable,
  parameters: Uint8Array | undefined,
): Promise<SqlUpdate> {
  const { table, ifTaken, query, constraints, settings } = statement;
  const created = await createdFrame(call, statement, 'TABLE');
  if (created === undefined) return { rows: 0, hasChanged: false };
  const { handle, ttlMs } = created;
  const mode = ifTaken === 'replace' && ttlMs === undefined ? 'overwrite' : 'create';
  const kept = { query, settings, parameters, constraints: constraints && { ...constraints, table: table.name } };
  try {
    const { rows } = await keepRows(call, kept, { handle, mode, ttlMs, constraints });
    await created.finish();
    return { rows, hasChanged: true };
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === 'handle_exists' && !isViewTaken(error);
    throw isTaken ? tableExists(handle, error) : error;
  }
}

function tableExists(handle: Handle, cause: AppError): AppError {
  return new AppError('handle_exists', `table ${JSON.stringify(handle)} exists`, {
    hint: 'CREATE OR REPLACE TABLE replaces it, INSERT INTO appends to it',
    cause,
  });
}
