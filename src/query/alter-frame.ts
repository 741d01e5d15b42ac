import { AppError } from '../core/app-error.ts';
import { typeInFrame } from '../core/data-type.ts';
import { type Handle, parseHandle } from '../core/handle.ts';
import type { Principal } from '../core/principal.ts';
import type { AlterChange, Query, SqlEngine, SqlResult, SqlRun } from '../core/sql.ts';
import type { StatementSettings } from '../core/statement-settings.ts';
import { frameChanged } from '../frames/catalog/frame-errors.ts';
import type { HeldSummary } from '../frames/catalog/frame-summary.ts';
import { definitionOf } from '../frames/disk/manifest.ts';
import type { Frames } from '../frames/frames.ts';
import { alteredConstraints, alteredTypes, appliesTo } from './altered-table.ts';
import type { CallOptions } from './frame-sql.ts';
import { openTables } from './open-tables.ts';

interface AlterParts {
  readonly engine: SqlEngine;
  readonly frames: Frames;
}

export interface AlterRequest {
  readonly handle: Handle;
  /** As it is held now. */
  readonly frame: HeldSummary;
  readonly change: AlterChange;
  readonly query: Query;
  readonly settings?: StatementSettings | undefined;
}

/**
 * Makes the next version of a frame with a changed definition, and gives whether there is one. Rows are written anew only where
 * their values change; where another write came between, this is refused (`frame_changed`).
 */
export async function alterFrame(
  parts: AlterParts,
  principal: Principal,
  request: AlterRequest,
  options: CallOptions,
): Promise<boolean> {
  const { change, frame, handle } = request;
  if (change.kind === 'renameTable') return await renameFrame(parts, principal, { ...request, to: change.to }, options);
  if (!appliesTo(change, frame)) return false;
  const constraints = alteredConstraints(change, frame);
  await using opened = await openRows(parts, principal, request, options, { constraints, isKept: true });
  const { result } = opened;
  const declared = alteredTypes(change, frame, result.columns);
  const { columns, versionId } = frame;
  await assertNoRows(change, frame, result);
  if (keepsRows(change)) {
    const before = { columns, declared: frame.declared, constraints: frame.constraints };
    const added = change.kind === 'addColumn' ? result.columns.slice(columns.length) : [];
    const plain = added.map(({ name, type }) => ({ name, type: typeInFrame(type) }));
    const after = { columns: [...columns, ...plain], declared, constraints };
    const needsVersion = change.kind === 'setNotNull' || (change.kind === 'addColumn' && change.isNotNull);
    await parts.frames.redefine(principal, { handle, before, after, versionId: needsVersion ? versionId : undefined });
    return true;
  }
  const source = { kind: 'arrow', stream: result.arrowStream() } as const;
  const isChecked = frame.hasUncheckedRows !== true;
  const put = {
    handle,
    mode: 'overwrite',
    replaces: versionId,
    definition: definitionOf(frame),
    declared,
    constraints,
    isChecked,
    source,
  } as const;
  await parts.frames.put(principal, put, options);
  return true;
}

/** Whether the rows of the next version are those that are there, in the files that are there. */
function keepsRows(change: AlterChange): boolean {
  if (change.kind === 'addColumn') return !change.writesRows;
  return ['setDefault', 'dropDefault', 'setNotNull', 'dropNotNull'].includes(change.kind);
}

async function assertNoRows(change: AlterChange, { handle, rows }: HeldSummary, result: SqlResult): Promise<void> {
  if (change.kind === 'addColumn' && change.default === undefined && change.isNotNull && rows > 0) {
    throw new AppError('sql_error', `column ${change.column} would be NULL in the rows of ${handle}`, {
      hint: 'give it a DEFAULT, or leave NOT NULL out',
    });
  }
  if (change.kind !== 'setNotNull') return;
  for await (const _ of result.rows());
  if (result.totalRows > 0) {
    throw new AppError('sql_error', `column ${change.column} of ${handle} has NULL in some rows`, {
      hint: 'UPDATE them first',
    });
  }
}

/** A copy under the new name, and then the end of the old one. */
async function renameFrame(
  parts: AlterParts,
  principal: Principal,
  { frame, ...request }: AlterRequest & { readonly to: string },
  options: CallOptions,
): Promise<boolean> {
  const { frames } = parts;
  const handle = parseHandle(request.to);
  const { declared, constraints, ttlMs, version } = frame;
  await frames.refusePut(principal, { handle, mode: 'create' });
  await using opened = await openRows(parts, principal, { ...request, frame }, options, { isKept: true });
  const source = { kind: 'arrow', stream: opened.result.arrowStream() } as const;
  const isChecked = frame.hasUncheckedRows !== true;
  await frames.put(principal, { handle, mode: 'create', ttlMs, declared, constraints, isChecked, source }, options);
  try {
    await frames.drop(principal, request.handle, { ifVersion: version });
  } catch (error) {
    await frames.drop(principal, handle);
    const isOther = error instanceof AppError && error.code === 'handle_gone';
    throw isOther ? frameChanged(request.handle) : error;
  }
  return true;
}

/** The rows of the query, over exactly the version that the request knows. */
async function openRows(
  { engine, frames }: AlterParts,
  principal: Principal,
  { query, settings, frame }: AlterRequest,
  options: CallOptions,
  how: Pick<SqlRun, 'isKept'> & Pick<SqlRun, 'constraints'>,
): Promise<AsyncDisposable & { readonly result: SqlResult }> {
  const opened = await openTables({ engine, frames }, principal, query, options);
  try {
    const { tables } = opened;
    if (tables[0]?.versionId !== frame.versionId) throw frameChanged(frame.handle as Handle);
    const job = { ...options, tenant: principal.tenant };
    const result = await engine.run({ query, settings, tables, form: 'arrow', ...how }, job);
    return {
      result,
      async [Symbol.asyncDispose]() {
        await result[Symbol.asyncDispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}
