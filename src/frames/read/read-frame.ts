import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { ChunkForm, ParquetRows } from '../../core/rows/frame-engine.ts';
import type { ReadOptions } from './chunk-reader.ts';
import type { FrameReader } from './frame-reader.ts';
import type { SentRows } from './row-slices.ts';
import { selectColumns } from './select-columns.ts';

/** Some rows of some columns of a frame. */
export interface FrameSelection<Name extends string = FrameName> {
  readonly handle: Name;
  /** Names, in the wanted order. Undefined: all. */
  readonly columns?: readonly string[] | undefined;
  /** Rows [from, to), as far as the frame has them. */
  readonly from: number;
  readonly to: number;
}

export interface ReadRequest<Name extends string = FrameName> extends FrameSelection<Name> {
  readonly form: ChunkForm;
  /** Called when the version is known and before rows are read. Return false to skip the rows; throw to refuse the read. */
  needsRows?(selected: SelectedRows): boolean;
}

export interface SelectedRows {
  readonly version: number;
  /** Unique for each version: good for an ETag. Undefined: of a view, which may have other rows the next time. */
  readonly versionId: string | undefined;
  /** See `HeldSummary`. */
  readonly lineage: string;
  /** The selected columns. */
  readonly columns: readonly Column[];
  /** Number of selected rows; for a view, at most. */
  readonly count: number;
}

/** Encoded rows of one version. They stay the same until disposed, whatever happens to the handle. */
export interface FrameRows extends SelectedRows, AsyncDisposable {
  /** In order, in pieces that can be sent one after the other. May be read once. */
  rows(): AsyncIterable<SentRows>;
}

/** The error for a view: its rows come from its query, which runs elsewhere. */
export class ViewRead extends AppError {
  readonly version: number;
  readonly lineage: string;
  readonly columns: readonly Column[];

  constructor({ handle, version, lineage, columns }: Pick<FrameReader, 'handle' | 'version' | 'lineage' | 'columns'>) {
    super('invalid_parameter', `${handle} is a view, and only the rows of frames are read here`);
    this.version = version;
    this.lineage = lineage;
    this.columns = columns;
  }
}

const maxAttempts = 2;

/** Opens the newest version and reads its first rows, so that a frame that cannot be read is an error before anything is sent. */
export async function readFrame(
  open: () => Promise<FrameReader>,
  selection: ReadRequest,
  options: ReadOptions,
): Promise<FrameRows> {
  return withNewestVersion(open, async (reader) => {
    const { selected, columnNumbers, from, to } = select(reader, selection);
    const needsRows = selection.needsRows?.(selected) !== false && from < to;
    const pieces = needsRows ? reader.rowsEncoded(selection.form, from, to, options, columnNumbers) : undefined;
    let first = await pieces?.next();
    return {
      ...selected,
      async *rows() {
        let rows = 0;
        // It is not held while the rest is sent.
        let step = first;
        first = undefined;
        while (step !== undefined && step.done !== true) {
          rows += step.value.rows;
          yield step.value;
          step = await pieces?.next();
        }
        if (needsRows && rows !== to - from) {
          throw new AppError('frame_damaged', `frame ${selection.handle} ended early`);
        }
      },
      async [Symbol.asyncDispose]() {
        // Also without a reader: they hold a worker.
        await pieces?.return();
        await reader[Symbol.asyncDispose]();
      },
    };
  });
}

/** The Parquet files of one version, with the rows that are selected of them. */
export interface FrameParts extends SelectedRows, AsyncDisposable {
  readonly versionId: string;
  readonly isWholeFrame: boolean;
  readonly source: ParquetRows;
}

/** Opens the newest version for a reader of its files. */
export function openParts(open: () => Promise<FrameReader>, selection: FrameSelection): Promise<FrameParts> {
  return withNewestVersion(open, async (reader) => {
    const { selected, columnNumbers, from, to } = select(reader, selection);
    const hasAllRows = to - from === reader.rows;
    return {
      ...selected,
      isWholeFrame: hasAllRows && columnNumbers === undefined,
      source: {
        kind: 'parquet',
        parts: await reader.sources(),
        columns: reader.columns,
        select: columnNumbers,
        range: hasAllRows ? undefined : { from, to },
      },
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  });
}

/** A file that is replaced from outside just as it is opened has a newer version, which serves as well. */
async function withNewestVersion<T>(
  open: () => Promise<FrameReader>,
  use: (reader: FrameReader) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const reader = await open();
    try {
      if (reader.view !== undefined) throw new ViewRead(reader);
      return await use(reader);
    } catch (error) {
      await reader[Symbol.asyncDispose]();
      const wasReplaced = error instanceof AppError && error.code === 'handle_gone';
      if (!wasReplaced || attempt === maxAttempts) throw error;
    }
  }
}

function select(reader: FrameReader, { handle, columns: names, from, to }: FrameSelection) {
  const columns = selectColumns(handle, reader.columns, names);
  const range = { from: Math.min(from, reader.rows), to: Math.min(to, reader.rows) };
  return {
    ...range,
    columnNumbers: names === undefined ? undefined : columns.map((column) => reader.columns.indexOf(column)),
    selected: {
      version: reader.version,
      versionId: reader.versionId,
      lineage: reader.lineage,
      columns,
      count: range.to - range.from,
    },
  };
}
