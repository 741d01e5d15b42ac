import { rm } from 'node:fs/promises';
import { arrowIpcStream, createArrowEncoder } from '@framehold/arrow-ipc';
import { ownTurn } from '@framehold/async';
import type { Batch, Column } from '@framehold/columns';
import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { isFailedSync } from '../../core/errors/storage-error.ts';
import type { Span } from '../../core/logs/span.ts';
import type { StatementCosts } from '../../core/logs/statement-costs.ts';
import type { Compression, PartRows, RowSource, WrittenPart } from '../../core/rows/frame-engine.ts';
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
  /** The parent span, if the request is traced. */
  readonly span?: Span | undefined;
  /** Receives the costs of the work. */
  readonly costs?: StatementCosts | undefined;
  /** Columns that are checked for NULLs in the files. */
  readonly notNull?: readonly string[] | undefined;
}

/** The rows of a source in files of our own, until disposed. */
export class StagedParts implements AsyncDisposable {
  readonly #state: TenantState;
  /** Every file that may be there, also after a failure. */
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

  /** The files with rows; one without rows if there are none. */
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

  /** Removes files that did not become parts. Nothing depends on it: leftovers are found at the next start. */
  async removeFiles(): Promise<void> {
    await Promise.all(this.#paths.map((path) => rm(path, { force: true }))).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removeFiles();
  }
}

/** The part of a file under a name. `isKept`: it came as Parquet, and stays unchanged. */
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
    isFreeOfNan: written.isFreeOfNan,
    check: new PartCheck(written, { passed: true }),
  };
}

/** The compression of a new part: cheap at first if the configured one is slow. */
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

/** Files without rows add nothing, unless there are no others. */
function withRows(files: readonly StagedFile[]): readonly StagedFile[] {
  const filled = files.filter(({ written }) => written.rows > 0);
  return filled.length > 0 ? filled : files.slice(0, 1);
}
