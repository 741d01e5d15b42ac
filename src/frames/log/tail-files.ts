import { link, rm } from 'node:fs/promises';
import { arrowIpcStream } from '@framehold/arrow-ipc';
import { type Column, joinBytes } from '@framehold/columns';
import type { Tenant } from '../../core/callers/principal.ts';
import type { FrameEngine, PartSource } from '../../core/rows/frame-engine.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';
import type { Tail } from './tail.ts';

interface TailFile extends PartSource {
  readonly fromRow: number;
  readonly toRow: number;
  users: number;
  /** Its rows are in Parquet for good, or in another file of this kind. */
  isOver: boolean;
  /** The same file in the folders of other tenants. */
  readonly links: Map<Tenant, Promise<string>>;
}

/** Beyond this many the rows are put together in one. */
const mostFiles = 8;
/** Size of the pieces that are passed on. */
const pieceBytes = 256 * 1024;

export interface TailFilesOptions {
  readonly directory: TenantDirectory;
  readonly directoryOf: (tenant: Tenant) => TenantDirectory;
  readonly engine: FrameEngine;
  /** Aborts when the store closes. */
  readonly signal: AbortSignal;
}

/** Temporary Parquet files of rows that are in the log of a frame: for engines, which read files. */
export class TailFiles {
  readonly #options: TailFilesOptions;
  #files: readonly TailFile[] = [];
  #isEnded = false;
  /** Rows before this one are in Parquet. */
  #storedRows = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: TailFilesOptions) {
    this.#options = options;
  }

  /** Files with the rows of the tail, which stay until the use is disposed of. */
  async open(tail: Tail, columns: readonly Column[]): Promise<TailUse> {
    const opening = this.#turn.then(() => this.#open(tail, columns));
    this.#turn = opening.catch(() => {});
    return new TailUse(await opening, this);
  }

  async #open(tail: Tail, columns: readonly Column[]): Promise<readonly TailFile[]> {
    this.endBefore(tail.fromRow);
    const found: TailFile[] = [];
    let row = tail.fromRow;
    for (const file of this.#files) {
      if (file.fromRow !== row || file.toRow > tail.toRow) continue;
      found.push(file);
      row = file.toRow;
    }
    if (row === tail.toRow) return this.#used(found);
    const isFull = found.length >= mostFiles;
    // They may be over before the new one is written.
    this.#used(found);
    try {
      const file = await this.#write(tail, columns, isFull ? tail.fromRow : row);
      // A reader still needs rows that no longer belong to the frame.
      file.isOver = this.#isEnded || file.toRow <= this.#storedRows;
      this.#files = [...this.#files, file];
      if (!isFull) return [...found, ...this.#used([file])];
      for (const before of found) this.#end(before);
      this.release(found);
      return this.#used([file]);
    } catch (error) {
      this.release(found);
      throw error;
    }
  }

  #used(files: readonly TailFile[]): readonly TailFile[] {
    for (const file of files) file.users++;
    return files;
  }

  async #write(tail: Tail, columns: readonly Column[], fromRow: number): Promise<TailFile> {
    const { directory, engine, signal } = this.#options;
    await directory.prepare();
    const path = directory.newPinPath();
    const stream = arrowIpcStream(columns, tailMessages(tail, fromRow));
    const compression = { algorithm: 'uncompressed', level: undefined } as const;
    await engine.write(
      { source: { kind: 'arrow', stream }, path, compression, compressesLater: true, isTemporary: true },
      { signal },
    );
    const rows = tail.toRow - fromRow;
    return { path, rows, fromRow, toRow: tail.toRow, users: 0, isOver: false, links: new Map() };
  }

  /** In the folder of the tenant that reads it. */
  async pathFor(reader: Tenant | undefined, file: TailFile): Promise<string> {
    const { directory, directoryOf } = this.#options;
    if (reader === undefined || reader === directory.tenant) return file.path;
    const known = file.links.get(reader);
    if (known !== undefined) return known;
    const linking = (async () => {
      const theirs = directoryOf(reader);
      await theirs.prepare();
      const path = theirs.newPinPath();
      await link(file.path, path);
      return path;
    })();
    file.links.set(reader, linking);
    linking.catch(() => file.links.delete(reader));
    return linking;
  }

  hold(files: readonly TailFile[]): void {
    this.#used(files);
  }

  release(files: readonly TailFile[]): void {
    for (const file of files) {
      file.users--;
      if (file.isOver && file.users === 0) void this.#remove(file);
    }
  }

  /** The rows before this one are in Parquet: their files go with their last reader. */
  endBefore(row: number): void {
    this.#storedRows = Math.max(this.#storedRows, row);
    for (const file of this.#files) if (file.toRow <= row) this.#end(file);
    this.#files = this.#files.filter((file) => !file.isOver);
  }

  /** The files are not needed any more. */
  end(): void {
    this.#isEnded = true;
    for (const file of this.#files) this.#end(file);
    this.#files = [];
  }

  #end(file: TailFile): void {
    if (file.isOver) return;
    file.isOver = true;
    if (file.users === 0) void this.#remove(file);
  }

  async #remove({ path, links }: TailFile): Promise<void> {
    const paths = [path, ...(await Promise.all([...links.values()].map((one) => one.catch(() => path))))];
    await Promise.all(paths.map((one) => rm(one, { force: true }))).catch(() => {});
  }
}

/** Files that somebody reads. */
export class TailUse implements Disposable {
  readonly #files: readonly TailFile[];
  readonly #owner: TailFiles;

  constructor(files: readonly TailFile[], owner: TailFiles) {
    this.#files = files;
    this.#owner = owner;
  }

  async sources(reader?: Tenant): Promise<readonly PartSource[]> {
    return Promise.all(
      this.#files.map(async (file) => ({ path: await this.#owner.pathFor(reader, file), rows: file.rows })),
    );
  }

  /** For longer than this one. */
  again(): TailUse {
    this.#owner.hold(this.#files);
    return new TailUse(this.#files, this.#owner);
  }

  [Symbol.dispose](): void {
    this.#owner.release(this.#files);
  }
}

/** The records of rows [fromRow, tail.toRow), unmerged: merging is left to a process where it blocks no caller. */
export function* tailMessages(tail: Tail, fromRow: number): Generator<{ readonly bytes: Uint8Array }, void, undefined> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const { firstRow, rows, message } of tail.records) {
    if (firstRow < fromRow || rows === 0) continue;
    pieces.push(message);
    bytes += message.length;
    if (bytes < pieceBytes) continue;
    yield { bytes: joinBytes(pieces) };
    pieces = [];
    bytes = 0;
  }
  if (bytes > 0) yield { bytes: joinBytes(pieces) };
}
