import { rm } from 'node:fs/promises';
import { AppError } from '../../core/app-error.ts';
import { ownTurn } from '../../core/async/own-turn.ts';
import { Semaphore } from '../../core/async/semaphore.ts';
import type { Batch } from '../../core/batch.ts';
import type { Column } from '../../core/data-type.ts';
import type { Compression, PartRows, RowSource, WrittenPart } from '../../core/frame-engine.ts';
import type { Span } from '../../core/span.ts';
import type { StatementCosts } from '../../core/statement-costs.ts';
import { isFailedSync } from '../../core/storage-error.ts';
import { createArrowEncoder } from '../../encoding/arrow/write/arrow-encoder.ts';
import { arrowIpcStream } from '../../encoding/arrow/write/arrow-stream.ts';
import { columnDifference } from '../catalog/column-difference.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { PartCheck } from '../disk/part-check.ts';
import type { HeldPart } from '../disk/part-links.ts';
import { leaseLost } from '../peers/process-lease.ts';

/** A file beside the frames that becomes a part. */
export interface StagedFile {
  readonly path: string;
  readonly written: WrittenPart;
}

/** They are read whole. */
const filesAtOnce = 2;
/** Encoded in one go. */
const bytesInTurn = 2 * 1024 * 1024;

export interface WriteOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  /** What it is part of, where that is traced. */
  readonly span?: Span | undefined;
  /** Where what it takes is noted. */
  readonly costs?: StatementCosts | undefined;
  /** Columns of which the files are to tell their NULLs. */
  readonly notNull?: readonly string[] | undefined;
}

/** What a source gives, in files of our own, until it is disposed of. */
export class StagedParts implements AsyncDisposable {
  readonly #state: TenantState;
  /** Every one that may be there, also after a failure. */
  readonly #paths: string[] = [];
  #columns: readonly Column[] = [];
  #files: readonly StagedFile[] = [];

  private constructor(state: TenantState) {
    this.#state = state;
  }

  static stage(state: TenantState, source: RowSource, work: WriteOptions): Promise<StagedParts> {
    return StagedParts.#made(state, (rows) => rows.#stage(source, work));
  }

  /** The same of rows that become one file. */
  static stageRows(state: TenantState, source: PartRows, work: WriteOptions): Promise<StagedParts> {
    return StagedParts.#made(state, async (rows) => [await rows.#write(source, work)]);
  }

  static async #made(
    state: TenantState,
    write: (rows: StagedParts) => Promise<readonly StagedFile[]>,
  ): Promise<StagedParts> {
    const rows = new StagedParts(state);
    try {
      const files = await write(rows);
      rows.#columns = columnsOf(files);
      rows.#files = withRows(files);
      return rows;
    } catch (error) {
      await rows[Symbol.asyncDispose]();
      throw error;
    }
  }

  get columns(): readonly Column[] {
    return this.#columns;
  }

  /** Those that hold rows; one where none does. */
  get files(): readonly StagedFile[] {
    return this.#files;
  }

  async #stage(source: RowSource, work: WriteOptions): Promise<StagedFile[]> {
    if (source.kind === 'batch') {
      return [await this.#write({ kind: 'arrow', stream: arrowStreamOf(source.batch) }, work)];
    }
    if (source.kind !== 'parts') return [await this.#write(source, work)];
    const semaphore = new Semaphore(filesAtOnce);
    const failures: unknown[] = [];
    const results = await Promise.all(
      source.paths.map((path) =>
        semaphore.run(async () => {
          if (failures.length > 0) return undefined;
          const rows = { kind: 'file', path, format: { kind: 'parquet' } } as const;
          return await this.#write(rows, work).catch((error: unknown) => {
            failures.push(error);
            return undefined;
          });
        }),
      ),
    );
    if (failures.length > 0) throw failures[0];
    return results.filter((file) => file !== undefined);
  }

  async #write(source: PartRows, work: WriteOptions): Promise<StagedFile> {
    const { context, directory } = this.#state;
    const { engine, durable, lease } = context;
    const path = directory.newTemporaryPath();
    this.#paths.push(path);
    const { compression } = firstCompression(context.compression);
    const { notNull, ...engineWork } = work;
    try {
      const written = await engine.write({ source, path, compression, compressesLater: true, notNull }, engineWork);
      return { path, written };
    } catch (error) {
      const isFull = error instanceof AppError && error.code === 'storage_full';
      if (isFailedSync(error) && !isFull) durable.noteFailedSync(error);
      if (await lease.hasLostLease()) throw leaseLost(error);
      throw error;
    }
  }

  /** Those that did not become parts. Nothing depends on it: what is left is found at the next start. */
  async removeFiles(): Promise<void> {
    await Promise.all(this.#paths.map((path) => rm(path, { force: true }))).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removeFiles();
  }
}

/** What becomes of a file under a name. `isKept`: it came as Parquet, and stays as it is. */
export async function writtenPart(
  { context, directory }: TenantState,
  { path, written }: StagedFile,
  file: string,
  { isKept = false } = {},
): Promise<HeldPart> {
  const identity = await directory.identify(path);
  if (identity === undefined) throw new AppError('internal', 'a file that was just written is not there');
  return {
    file,
    ...identity,
    checksum: written.checksum,
    rows: written.rows,
    uncompressedBytes: written.uncompressedBytes,
    final: isKept || (written.isCompressed && firstCompression(context.compression).final),
    exact: true,
    check: new PartCheck(written, { passed: true }),
  };
}

/** What a new part is written with: cheap at first where the configured compression is slow. */
export function firstCompression(configured: Compression): {
  readonly compression: Compression;
  readonly final: boolean;
} {
  const { algorithm, level } = configured;
  const isSlow =
    (algorithm === 'zstd' && level !== undefined && level > 3) ||
    ((algorithm === 'gzip' || algorithm === 'brotli') && (level === undefined || level > 3));
  return isSlow
    ? { compression: { algorithm: 'zstd', level: 1 }, final: false }
    : { compression: configured, final: true };
}

function arrowStreamOf(batch: Batch): AsyncIterable<Uint8Array> {
  return arrowIpcStream(batch.columns, recordBatches(batch));
}

/** At least one. A batch may be as large as a body of lines. */
async function* recordBatches(batch: Batch): AsyncGenerator<{ readonly bytes: Uint8Array }> {
  const encoder = createArrowEncoder(batch.columns);
  let row = 0;
  do {
    if (row > 0) await ownTurn('');
    row = encoder.encodeRows(batch, row, batch.rows, bytesInTurn);
    yield encoder.takeMessage();
  } while (row < batch.rows);
}

/** All files have the same. */
function columnsOf(files: readonly StagedFile[]): readonly Column[] {
  const [first, ...others] = files.map(({ written }) => written.columns);
  if (first === undefined) throw new AppError('invalid_input', 'a frame needs at least one file');
  if (first.length === 0) throw new AppError('invalid_input', 'a frame needs at least one column');
  for (const [index, columns] of others.entries()) {
    const difference = columnDifference(first, columns);
    if (difference === undefined) continue;
    throw new AppError('schema_mismatch', `file ${index + 2} does not fit the first one: ${difference}`);
  }
  return first;
}

/** Those without rows add nothing, unless there is nothing else. */
function withRows(files: readonly StagedFile[]): readonly StagedFile[] {
  const filled = files.filter(({ written }) => written.rows > 0);
  return filled.length > 0 ? filled : files.slice(0, 1);
}
