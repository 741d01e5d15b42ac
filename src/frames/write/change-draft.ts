import type { Column } from '@framehold/columns';
import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { ChangeCounts, PartRows, PartSource, RowChanges } from '../../core/rows/frame-engine.ts';
import { columnDifference } from '../catalog/column-difference.ts';
import { frameChanged } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { FileChanged, type HeldPart } from '../disk/part-links.ts';
import { stageTail } from './flusher.ts';
import { type StagedFile, StagedParts, type WriteOptions } from './staged-parts.ts';

/** A file of the next version: newly written, or unchanged. */
export type DraftFile = StagedFile | { readonly path: string; readonly part: HeldPart };

/** The outcome for rows that are together. */
type Fate = 'kept' | 'gone' | StagedFile;

/** Checks that the bytes of a version's parts are as written. */
export type Verify = (version: FrameVersion) => Promise<void>;

interface Rows {
  /** By which they are known again in another version of the lineage. */
  readonly key: string;
  readonly rows: number;
  readonly firstRow: number;
  readonly source: () => Promise<PartSource>;
  /** Undefined: they are only in the log. */
  readonly part?: HeldPart | undefined;
}

const writesAtOnce = 2;

/** The files of the next version of a frame, written beside it. Written files are reused while the frame only grows. */
export class ChangeDraft implements AsyncDisposable {
  readonly #state: TenantState;
  readonly #verify: Verify;
  readonly #changes: RowChanges | undefined;
  readonly #work: WriteOptions;
  readonly #staged: StagedParts[] = [];
  readonly #fates = new Map<string, Fate>();
  readonly #tails = new Map<string, StagedFile>();
  #added: StagedFile | undefined;
  /** The changes were counted: their new rows are written, and the fate of each row is known. */
  #isCounted = false;

  constructor(state: TenantState, verify: Verify, changes: RowChanges | undefined, work: WriteOptions) {
    this.#state = state;
    this.#verify = verify;
    this.#changes = changes;
    this.#work = work;
  }

  /** Writes the files that the version still needs. True if there were any. */
  async prepare(version: FrameVersion): Promise<boolean> {
    const changes = this.#changes;
    if (changes === undefined) return false;
    const parts = version.parts;
    parts.acquire();
    try {
      const { engine } = this.#state.context;
      if (!parts.isVerified) await this.#verify(version);
      const all = await this.#rowsOf(version);
      const unknown = all.filter(({ key }) => !this.#fates.has(key));
      if (this.#isCounted && unknown.length === 0) return false;
      const firstRows = all.map(({ firstRow }) => firstRow);
      const counts = await engine.countChanges(changes, firstRows, this.#work);
      if (counts.repeated > 0) throw changedTwice();
      const semaphore = new Semaphore(writesAtOnce);
      const results = await Promise.allSettled(
        unknown.map((rows) =>
          semaphore.run(async () => {
            this.#fates.set(rows.key, await this.#fateOf(version, rows, changes, counts.parts[all.indexOf(rows)]));
          }),
        ),
      );
      for (const result of results) if (result.status === 'rejected') throw result.reason;
      const { columns } = version.manifest;
      if (counts.added > 0) this.#added ??= await this.#write({ kind: 'added', columns, changes });
      this.#isCounted = true;
      return true;
    } catch (error) {
      throw error instanceof FileChanged ? frameChanged(version.manifest.handle) : error;
    } finally {
      parts.release();
    }
  }

  /** The files of the next version, in order. */
  async files(version: FrameVersion): Promise<readonly DraftFile[]> {
    await this.prepare(version);
    const { directory } = this.#state;
    const files: DraftFile[] = [];
    if (this.#changes !== undefined) {
      for (const { key, part } of await this.#rowsOf(version)) {
        const fate = this.#fates.get(key);
        if (fate === undefined) throw new AppError('internal', 'rows of a frame were left out of its next version');
        if (fate === 'gone') continue;
        if (fate !== 'kept') files.push(fate);
        else if (part !== undefined) files.push({ path: directory.path(part.file), part });
        else files.push(this.#tails.get(key) as StagedFile);
      }
      if (this.#added !== undefined) files.push(this.#added);
    }
    return files.length > 0 ? files : [await this.#emptyFile(version)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#staged.map((staged) => staged[Symbol.asyncDispose]()));
  }

  /** Its parts with rows, then the rows of the log. A part without rows begins where the next does. */
  async #rowsOf(version: FrameVersion): Promise<Rows[]> {
    let firstRow = 0;
    const all: Rows[] = [];
    for (const [index, part] of version.parts.parts.entries()) {
      const { ino, size, mtimeNs, rows, columnCount } = part;
      if (rows === 0) continue;
      const source = async (): Promise<PartSource> => (await version.parts.sources())[index] as PartSource;
      all.push({ key: [ino, size, mtimeNs, firstRow, columnCount].join(' '), rows, firstRow, source, part });
      firstRow += rows;
    }
    const { tail } = version;
    if (tail.rows === 0) return all;
    const key = `tail ${tail.fromRow} ${tail.toRow}`;
    if (!this.#tails.has(key)) this.#tails.set(key, this.#keep(await stageTail(this.#state, version)));
    const { path } = this.#tails.get(key) as StagedFile;
    return [...all, { key, rows: tail.rows, firstRow, source: async () => ({ path, rows: tail.rows }) }];
  }

  async #fateOf(
    version: FrameVersion,
    { rows, firstRow, source }: Rows,
    changes: RowChanges,
    count: ChangeCounts['parts'][number] | undefined,
  ): Promise<Fate> {
    if (count === undefined || count.changed > rows)
      throw new AppError('internal', 'a change is of rows that are not there');
    if (count.changed === 0) return 'kept';
    if (count.deleted === rows) return 'gone';
    const { columns } = version.manifest;
    const file = await this.#write({ kind: 'changed', part: await source(), columns, firstRow, changes });
    if (file.written.rows === rows - count.deleted) return file;
    throw new AppError('internal', 'a change would lose rows of a frame');
  }

  /** Without rows. */
  async #emptyFile({ parts, manifest: { columns } }: FrameVersion): Promise<StagedFile> {
    parts.acquire();
    try {
      const sources = await parts.unverifiedSources();
      return await this.#write({ kind: 'parquet', parts: sources.slice(0, 1), columns, range: { from: 0, to: 0 } });
    } finally {
      parts.release();
    }
  }

  async #write(source: Extract<PartRows, { readonly columns: readonly Column[] }>): Promise<StagedFile> {
    const staged = await StagedParts.stageRows(this.#state, source, this.#work);
    const file = this.#keep(staged);
    const difference = columnDifference(source.columns, staged.columns);
    if (difference === undefined) return file;
    throw new AppError('internal', `a change would make another frame: ${difference}`);
  }

  #keep(staged: StagedParts): StagedFile {
    this.#staged.push(staged);
    const [file] = staged.files;
    if (file === undefined) throw new AppError('internal', 'no file was written');
    return file;
  }
}

function changedTwice(): AppError {
  return new AppError('sql_error', 'a row of the frame would be changed more than once', {
    hint: 'each row may match one row of the source, and one row of bound parameters: make the condition narrower',
  });
}
