import { AppError } from '../../core/errors/app-error.ts';
import { type Handle, parseHandle } from '../../core/names/handle.ts';
import { typeInFrame } from '../../core/rows/type-in-frame.ts';
import type { AlterChange, FieldChange, SqlResult, SqlRun } from '../../core/sql/sql.ts';
import { resultOver } from '../../core/sql/sql-result.ts';
import { frameChanged } from '../../frames/catalog/frame-errors.ts';
import type { HeldSummary } from '../../frames/catalog/frame-summary.ts';
import { definitionOf } from '../../frames/disk/manifest.ts';
import type { AnalysedStatement, SqlUpdate } from '../frame-sql.ts';
import { retried, type StatementRun } from '../statement-run.ts';
import { openTables } from '../tables/open-tables.ts';
import { ownQuery } from '../tables/own-query.ts';
import { describeHeld, targetFrame } from '../tables/target-frame.ts';
import { temporaryHandle } from '../tables/temporary-tables.ts';
import { alteredConstraints, alteredTypes, appliesTo, columnOf } from './altered-table.ts';
import { type ChangedField, changedField } from './changed-field.ts';

type Alter = Extract<AnalysedStatement, { kind: 'alter' }>;

interface AlterRequest extends Pick<Alter, 'table' | 'change' | 'query' | 'settings'> {
  readonly handle: Handle;
  /** As it is held now. */
  readonly frame: HeldSummary;
}

/** ALTER TABLE and ALTER VIEW */
export async function alterFrame(call: StatementRun, statement: Alter): Promise<SqlUpdate> {
  const own = temporaryHandle(call.options.temporary, statement.table);
  if (own !== undefined && statement.change.kind === 'renameTable')
    throw new AppError('sql_forbidden', `a temporary ${statement.what} keeps its name`, {
      hint: 'create another of it',
    });
  const { handle, isHeld } = own ? { handle: own, isHeld: true } : await targetFrame(call, statement.table);
  if (!isHeld && statement.ifAbsent === 'ignore') return { rows: 0, hasChanged: false };
  const hasChanged = await retried(async () => {
    const frame = await describeHeld(call, handle);
    if ((frame.view !== undefined) !== (statement.what === 'view'))
      throw otherThanAltered(handle, frame.view !== undefined);
    return await alterOnce(call, { ...statement, handle, frame });
  });
  return { rows: 0, hasChanged };
}

/**
 * Makes the next version of a frame with a changed definition, and returns whether there is one. Rows are written anew only if
 * their values change; if another write came between, this is refused (`frame_changed`).
 */
async function alterOnce(call: StatementRun, request: AlterRequest): Promise<boolean> {
  const { engine, frames, principal, options } = call;
  const { change, frame, handle } = request;
  if (change.kind === 'renameTable') return await renameFrame(call, { ...request, to: change.to });
  if (!appliesTo(change, frame)) return false;
  const constraints = alteredConstraints(change, frame);
  const field = change.kind === 'changeField' ? fieldOf(change, request) : undefined;
  if (change.kind === 'changeField' && field === undefined) return false;
  // Definitions are expanded in its text already.
  const query = field === undefined ? request.query : await ownQuery(engine, field.sql, call.job);
  const rows = { ...request, query };
  await using result = await openRows(call, rows, {
    constraints: constraints && { ...constraints, table: request.table.name },
    isKept: true,
  });
  const declared = alteredTypes(change, frame, result.columns, field);
  const { columns, versionId } = frame;
  await assertNoRows(change, frame, result);
  if (keepsRows(change)) {
    const before = { columns, declared: frame.declared, constraints: frame.constraints };
    const added = change.kind === 'addColumn' ? result.columns.slice(columns.length) : [];
    const plain = added.map(({ name, type }) => ({ name, type: typeInFrame(type) }));
    const after = { columns: [...columns, ...plain], declared, constraints };
    const needsVersion = change.kind === 'setNotNull' || (change.kind === 'addColumn' && change.isNotNull);
    await frames.redefine(principal, {
      handle,
      before,
      after,
      versionId: needsVersion ? versionId : undefined,
    });
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
  await frames.put(principal, put, options);
  return true;
}

/** Undefined: the change concerns nothing that the column has. */
function fieldOf(change: FieldChange, { frame, table }: AlterRequest): ChangedField | undefined {
  const names = frame.columns.map(({ name }) => name);
  const at = names.indexOf(columnOf(change.column, names) ?? '');
  const { name = '', type = { kind: 'null' } } = frame.columns[at] ?? {};
  return changedField(change, { name, type: frame.declared?.[at] ?? type, names, table });
}

/** Whether the rows of the next version are the present ones, in the present files. */
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
  call: StatementRun,
  { frame, ...request }: AlterRequest & { readonly to: string },
): Promise<boolean> {
  const { frames, principal, options } = call;
  const handle = parseHandle(request.to);
  const { declared, constraints, ttlMs, version, view, columns } = frame;
  await frames.refusePut(principal, { handle, mode: 'create' });
  if (view !== undefined) {
    await frames.saveView(principal, { handle, ifTaken: 'fail', view, columns, ttlMs }, options);
    return await dropRenamed(call, request.handle, { handle, version });
  }
  await using result = await openRows(call, { ...request, frame }, { isKept: true });
  const source = { kind: 'arrow', stream: result.arrowStream() } as const;
  const isChecked = frame.hasUncheckedRows !== true;
  await frames.put(principal, { handle, mode: 'create', ttlMs, declared, constraints, isChecked, source }, options);
  return await dropRenamed(call, request.handle, { handle, version });
}

/** Drops the old one; or the new one, where the old one is another by now. */
async function dropRenamed(
  { frames, principal }: StatementRun,
  old: Handle,
  { handle, version }: { readonly handle: Handle; readonly version: number },
): Promise<boolean> {
  try {
    await frames.drop(principal, old, { ifVersion: version });
  } catch (error) {
    await frames.drop(principal, handle);
    const isOther = error instanceof AppError && error.code === 'handle_gone';
    throw isOther ? frameChanged(old) : error;
  }
  return true;
}

/** The rows of the query, over exactly the version that the request knows. */
async function openRows(
  call: StatementRun,
  { query, settings, frame }: AlterRequest,
  how: Pick<SqlRun, 'isKept'> & Pick<SqlRun, 'constraints'>,
): Promise<SqlResult> {
  const { engine } = call;
  const opened = await openTables(call, query);
  return await resultOver(opened, async () => {
    const { tables } = opened;
    if (tables[0]?.versionId !== frame.versionId) throw frameChanged(frame.handle as Handle);
    return await engine.run({ query, settings, tables, form: 'arrow', ...how }, call.job);
  });
}

function otherThanAltered(handle: Handle, isView: boolean): AppError {
  if (!isView) return new AppError('sql_error', `${handle} is a table`, { hint: 'write ALTER TABLE' });
  return new AppError('sql_error', `${handle} is a view, whose name alone ALTER changes`, {
    hint: 'CREATE OR REPLACE VIEW makes it anew, ALTER VIEW … RENAME TO gives it another name',
  });
}
