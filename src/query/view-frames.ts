import { type Column, sqlName } from '@framehold/columns';
import { localEngineName } from '../core/names/engine-names.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import type { Frames } from '../frames/frames.ts';
import { type FrameRows, ViewRead } from '../frames/read/read-frame.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { FrameSql } from './frame-sql.ts';
import { sqlText } from './tables/frame-tables.ts';

/** The statement that gives the rows of a view. */
export function viewRows(handle: FrameName, columns?: readonly Column[]): string {
  const names = columns?.map(({ name }) => sqlName(name)).join(', ');
  return `SELECT ${names ?? '*'} FROM ${sqlText(handle)}`;
}

/** The frames as HTTP and Flight see them: the rows of a view are the rows of its query. */
export function viewFrames(frames: Frames, sql: FrameSql): Frames {
  const read: Frames['read'] = async (...call) => {
    try {
      return await frames.read(...call);
    } catch (error) {
      if (error instanceof ViewRead) return await readView(sql, error, ...call);
      throw error;
    }
  };
  return { ...frames, read };
}

async function readView(
  sql: FrameSql,
  view: ViewRead,
  ...[principal, request, options]: Parameters<Frames['read']>
): Promise<FrameRows> {
  const { handle, from, to, form } = request;
  const columns = selectColumns(handle, view.columns, request.columns);
  const { version, lineage } = view;
  const selected = { version, versionId: undefined, lineage, columns, count: Math.max(0, to - from) };
  if (request.needsRows?.(selected) === false)
    return { ...selected, async *rows() {}, async [Symbol.asyncDispose]() {} };
  const limit = to === Infinity ? '' : ` LIMIT ${selected.count}`;
  const text = `${viewRows(handle, columns)}${limit}${from === 0 ? '' : ` OFFSET ${from}`}`;
  const call = { ...options, shownAs: `rows of ${handle}` };
  const statement = await sql.analyze(principal, { sql: text, engine: localEngineName }, call);
  const result = await sql.query(principal, { statement, form }, call);
  return { ...selected, rows: () => result.rows(), [Symbol.asyncDispose]: () => result[Symbol.asyncDispose]() };
}
