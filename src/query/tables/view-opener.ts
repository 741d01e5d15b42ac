import type { Column } from '@framehold/columns';
import { asReaderOf, type Principal, type Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { LiveRead } from '../../core/sql/live-read.ts';
import type { FrameTable, Query, SqlTable, TableName, ViewTable } from '../../core/sql/sql.ts';
import { sharedSchema } from '../../core/sql/table-name.ts';
import { LruMap } from '../../core/system/lru-map.ts';
import { typeChange } from '../../frames/catalog/column-difference.ts';
import type { ViewDefinition } from '../../frames/disk/manifest.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { StatementRun } from '../statement-run.ts';
import { ownQuery } from './own-query.ts';
import { engineSchema, frameBehind, fullName } from './table-names.ts';
import {
  type ShownView,
  tooDeep,
  tooLarge,
  ViewFault,
  viewElsewhere,
  whyUnreadable,
  withoutReason,
} from './view-fault.ts';

/** Views that read views, one behind the other. */
const mostLevels = 16;

/** The context of a name's look-up: the caller, or for a view its owner. */
export interface Place {
  readonly principal: Principal;
  /** Views around it, each by `owner/handle`. */
  readonly views: readonly string[];
  /** The caller may not see the tables that are read here. Default false. */
  readonly isHidden?: boolean;
}

/** Opens the tables of a view, as those of the statement. */
export interface ViewTables {
  /** All that the statement reads so far. */
  readonly described: readonly SqlTable[];
  open(table: TableName, place: Place): Promise<FrameTable | ViewTable | undefined>;
  addLive(query: Query, place: Place): Promise<void>;
  liveColumns(read: LiveRead): readonly Column[];
}

/** Opens the views of one statement. */
export class ViewOpener {
  readonly #call: StatementRun;
  readonly #tables: ViewTables;
  readonly #sizes = new ViewSizes();

  constructor(call: StatementRun, tables: ViewTables) {
    this.#call = call;
    this.#tables = tables;
  }

  get sizes(): ViewSizes {
    return this.#sizes;
  }

  async open(
    reader: FrameReader,
    view: ViewDefinition,
    table: TableName,
    { principal, views, isHidden = false }: Place,
  ): Promise<ViewTable> {
    const { versionId, columns } = reader;
    const frame = frameBehind(reader.handle, principal, table);
    const owner = sharedSchema(table) ?? principal.tenant;
    const shown: ShownView = {
      name: owner === this.#call.principal.tenant ? table.name : `${owner}.${table.name}`,
      position: views.length === 0 ? table.position : undefined,
    };
    if (this.#call.engine.hasViews !== true) throw viewElsewhere(shown);
    if (views.length >= mostLevels || views.includes(frame)) throw tooDeep(shown, mostLevels);
    // Behind it are frames that its reader may not see: of another tenant, or without the prefix of the token.
    const isBarrier = owner !== principal.tenant || principal.prefix !== undefined;
    const inner = {
      principal: asReaderOf(principal, owner as Tenant),
      views: [...views, frame],
      isHidden: isHidden || isBarrier,
    };
    const { query, reads } = await this.#reads(view, inner, shown).catch((error: unknown) => {
      throw isBarrier ? withoutReason(error, shown) : error;
    });
    this.#sizes.measure(frame, view.query, reads, shown);
    const opened = { kind: 'view', name: table.name, schema: engineSchema(table), frame, versionId, columns } as const;
    const made: ViewTable = { ...opened, query, isBarrier };
    const live = query.live?.reads.map((read) => this.#tables.liveColumns(read));
    await checkViewColumns(made, shown, { reads, live, describe: () => this.#columnsOf(query) });
    return made;
  }

  /** The query of a view, and its tables. */
  async #reads(
    view: ViewDefinition,
    place: Place,
    shown: ShownView,
  ): Promise<{ readonly query: Query; readonly reads: readonly (FrameTable | ViewTable)[] }> {
    const query = await ownQuery(this.#call.engine, view.query, this.#call.job);
    const reads: (FrameTable | ViewTable)[] = [];
    await this.#tables.addLive(query, place).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
      const { name, position } = shown;
      throw new ViewFault(`view ${name}: ${error.message}`, { hint: error.hint, position, cause: error });
    });
    for (const read of query.tables) {
      const opened = await this.#tables.open(read, place).catch((error: unknown) => {
        const owner = sharedSchema(read);
        throw whyUnreadable(error, shown, read.name, owner === place.principal.tenant ? undefined : owner);
      });
      if (opened !== undefined) reads.push(opened);
    }
    return { query, reads };
  }

  async #columnsOf(query: Query): Promise<readonly Column[]> {
    return (await this.#call.engine.describe({ query, tables: this.#tables.described }, this.#call.job)).columns;
  }
}

/** Views with checked columns, by their version and the versions of their tables. */
const checkedViews = new LruMap<true>(1000, 16_000_000);

/** A view has the columns that it was made with, or none. */
async function checkViewColumns(
  view: ViewTable,
  { name, position }: ShownView,
  {
    reads,
    live,
    describe,
  }: {
    readonly reads: readonly (FrameTable | ViewTable)[];
    /** The columns of its reads of the external database. */
    readonly live: readonly (readonly Column[])[] | undefined;
    /** The columns that its query gives now. */
    readonly describe: () => Promise<readonly Column[]>;
  },
): Promise<void> {
  const key = JSON.stringify([view.versionId, reads.map(({ frame, columns }) => [frame, columns]), live]);
  if (checkedViews.get(key) !== undefined) return;
  const changed = (why: string): AppError =>
    new ViewFault(`view ${name} reads tables whose columns have changed${why}`, {
      hint: view.isBarrier ? 'ask its owner' : 'make it anew: CREATE OR REPLACE VIEW',
      position,
    });
  const found = await describe().catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
    throw changed(view.isBarrier ? '' : `: ${error.message}`);
  });
  // Columns that its tables have got since are not among its own.
  const own = view.columns.map((column) => found.find((each) => each.name === column.name));
  const missing = view.columns.find((_, at) => own[at] === undefined);
  if (missing !== undefined) throw changed(`: column ${JSON.stringify(missing.name)} is gone`);
  const change = typeChange(view.columns, own as readonly Column[]);
  if (change !== undefined) throw changed(`: ${change}`);
  checkedViews.set(key, true, key.length);
}

/** Tables that the views of a statement name together, each time that one is named. */
const mostNames = 1000;
/** Total size of the texts of views, counted each time that one is named. */
const mostText = 2 ** 20;

/** The size of a view together with all views that it reads. */
interface Size {
  readonly names: number;
  readonly text: number;
}

/** The sizes of the views of a statement. */
class ViewSizes {
  /** By `owner/handle`. */
  readonly #sizes = new Map<string, Size>();

  /** Refuses a view that the engine would plan for too long. */
  measure(frame: string, query: string, reads: readonly (FrameTable | ViewTable)[], shown: ShownView): void {
    let [names, text] = [0, query.length];
    for (const read of reads) {
      const times = query.split(fullName(read.frame)).length - 1;
      const { names: innerNames, text: innerText } = this.#sizes.get(read.frame) ?? { names: 0, text: 0 };
      names += times * (1 + innerNames);
      text += times * innerText;
    }
    this.#sizes.set(frame, { names, text });
    if (names > mostNames || text > mostText) throw tooLarge(shown);
  }
}
