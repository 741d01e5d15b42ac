import { sqlName } from '@framehold/columns';
import type { Principal, Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, isSharedName, ownerPrefix, sharedName, splitSharedName } from '../../core/names/frame-name.ts';
import { isHandle } from '../../core/names/handle.ts';
import { hasUnnamedField } from '../../core/rows/type-in-frame.ts';
import type { FrameTable, SqlColumn, TableDefinition, TableName } from '../../core/sql/sql.ts';
import { frameNameOf } from '../../core/sql/table-name.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import type { Frames } from '../../frames/frames.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';

/** The frame that a table's name means: names in SQL are the same in any case, handles are not. */
export async function findFrame(
  frames: Pick<Frames, 'list'>,
  principal: Principal,
  table: TableName,
): Promise<FrameName | undefined> {
  if (!isHandle(table.name)) return undefined;
  const wanted = frameNameOf(principal.tenant, table);
  const candidates = isSharedName(wanted)
    ? frames.list(principal, { whose: 'shared', prefix: ownerPrefix(wanted) })
    : frames.list(principal, { whose: 'own' });
  const alike: FrameName[] = [];
  for await (const { handle } of candidates) {
    if (handle === wanted) return handle;
    if (isSameName(handle, wanted)) alike.push(handle);
  }
  if (alike.length > 1) throw differsInCase(...alike);
  return alike[0];
}

/** As SQL names a frame: `owner.handle` where it is shared. */
export function sqlNameOf(name: FrameName): string {
  return isSharedName(name) ? Object.values(splitSharedName(name)).join('.') : name;
}

export function isAbsent(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'handle_not_found' || error.code === 'handle_gone');
}

/** The same as a table's name in a statement. */
export function sqlText(name: FrameName): string {
  const parts = isSharedName(name) ? Object.values(splitSharedName(name)) : [name];
  return parts.map(sqlName).join('.');
}

/** The columns of a frame, as SQL declared them. */
export function sqlColumns({
  columns,
  declared,
}: Pick<FrameReader, 'columns'> & Partial<Pick<FrameReader, 'declared'>>): SqlColumn[] {
  return columns.map((column, index) => {
    const type = declared?.[index] ?? undefined;
    return type === undefined ? column : { ...column, declared: type };
  });
}

/** For statements that only describe it: a table with the facts of DESCRIBE beyond the types. Undefined: there are none. */
export function describedTable({ columns, readAs, constraints }: FrameReader): TableDefinition | undefined {
  const read = sqlColumns({ columns, declared: readAs });
  const hasName = read.every(({ type, declared }) => !hasUnnamedField(declared ?? type));
  return constraints && hasName ? { columns: read, constraints } : undefined;
}

/** A frame under a name of a query. */
export async function tableOf(
  reader: FrameReader,
  tenant: Tenant,
  {
    name,
    schema,
    owner,
  }: {
    readonly name: string;
    readonly schema: string | undefined;
    /** Default: the tenant. */
    readonly owner?: string | undefined;
  },
): Promise<FrameTable> {
  const { handle, versionId, columns, readAs, rows, bytes } = reader;
  return {
    kind: 'frame',
    name,
    schema,
    frame: sharedName((owner ?? tenant) as Tenant, handle),
    versionId,
    columns,
    readAs,
    rows,
    bytes,
    parts: await reader.sources(tenant),
    hold: () => reader.holdFiles(),
    retired: reader.retired,
  };
}

export function differsInCase(...names: readonly string[]): AppError {
  return new AppError('sql_error', `${names.join(' and ')} differ only in case, which SQL does not tell apart`, {
    hint: 'put one of them under another handle, or read it by handle',
  });
}
