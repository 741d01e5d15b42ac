import type { Column } from '../core/data-type.ts';
import { localEngineName } from '../core/engine-names.ts';
import type { FrameName } from '../core/frame-name.ts';
import type { Frames } from '../frames/frames.ts';
import { type FrameRows, ViewRead } from '../frames/read/read-frame.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { FrameSql } from './frame-sql.ts';
import { quoted, sqlText } from './tables/frame-tables.ts';

type ReadCall = Parameters<Frames['read']>;

/** The statement that gives the rows of a view. */
export function viewRows(handle: FrameName, columns?: readonly Column[]): string {
  const names = columns?.map(({ name }) => quoted(name)).join(', ');
  return `SELECT ${names ?? '*'} FROM ${sqlText(handle)}`;
}

/** The frames as the doors see them: rows of a view are those that its query gives. */
export class ViewFrames implements Frames {
  readonly #frames: Frames;
  readonly #sql: FrameSql;

  constructor(frames: Frames, sql: FrameSql) {
    this.#frames = frames;
    this.#sql = sql;
  }

  readonly read: Frames['read'] = async (...call) => {
    try {
      return await this.#frames.read(...call);
    } catch (error) {
      if (error instanceof ViewRead) return await this.#readView(error, ...call);
      throw error;
    }
  };

  async #readView(view: ViewRead, ...[principal, request, options]: ReadCall): Promise<FrameRows> {
    const { handle, from, to, form } = request;
    const columns = selectColumns(handle, view.columns, request.columns);
    const { version, lineage } = view;
    const selected = { version, versionId: undefined, lineage, columns, count: Math.max(0, to - from) };
    if (request.needsRows?.(selected) === false)
      return { ...selected, async *rows() {}, async [Symbol.asyncDispose]() {} };
    const limit = to === Infinity ? '' : ` LIMIT ${selected.count}`;
    const sql = `${viewRows(handle, columns)}${limit}${from === 0 ? '' : ` OFFSET ${from}`}`;
    const call = { ...options, shownAs: `rows of ${handle}` };
    const statement = await this.#sql.analyze(principal, { sql, engine: localEngineName }, call);
    const result = await this.#sql.query(principal, { statement, form }, call);
    return { ...selected, rows: () => result.rows(), [Symbol.asyncDispose]: () => result[Symbol.asyncDispose]() };
  }

  readonly peek: Frames['peek'] = (...call) => this.#frames.peek(...call);
  readonly open: Frames['open'] = (...call) => this.#frames.open(...call);
  readonly openParts: Frames['openParts'] = (...call) => this.#frames.openParts(...call);
  readonly list: Frames['list'] = (...call) => this.#frames.list(...call);
  readonly describe: Frames['describe'] = (...call) => this.#frames.describe(...call);
  readonly watch: Frames['watch'] = (...call) => this.#frames.watch(...call);
  readonly watchAll: Frames['watchAll'] = (...call) => this.#frames.watchAll(...call);
  readonly assertMayWrite: Frames['assertMayWrite'] = (...call) => this.#frames.assertMayWrite(...call);
  readonly appendColumns: Frames['appendColumns'] = (...call) => this.#frames.appendColumns(...call);
  readonly put: Frames['put'] = (...call) => this.#frames.put(...call);
  readonly redefine: Frames['redefine'] = (...call) => this.#frames.redefine(...call);
  readonly change: Frames['change'] = (...call) => this.#frames.change(...call);
  readonly saveView: Frames['saveView'] = (...call) => this.#frames.saveView(...call);
  readonly refusePut: Frames['refusePut'] = (...call) => this.#frames.refusePut(...call);
  readonly definitions: Frames['definitions'] = (...call) => this.#frames.definitions(...call);
  readonly define: Frames['define'] = (...call) => this.#frames.define(...call);
  readonly undefine: Frames['undefine'] = (...call) => this.#frames.undefine(...call);
  readonly use: Frames['use'] = (...call) => this.#frames.use(...call);
  readonly drop: Frames['drop'] = (...call) => this.#frames.drop(...call);
  readonly renew: Frames['renew'] = (...call) => this.#frames.renew(...call);
  readonly flush: Frames['flush'] = (...call) => this.#frames.flush(...call);
  readonly temporaryFile: Frames['temporaryFile'] = (...call) => this.#frames.temporaryFile(...call);
  readonly incomingFolder: Frames['incomingFolder'] = (...call) => this.#frames.incomingFolder(...call);
  readonly writeParquet: Frames['writeParquet'] = (...call) => this.#frames.writeParquet(...call);
  readonly preview: Frames['preview'] = (...call) => this.#frames.preview(...call);
}
