import type { Column } from '@framehold/columns';
import type { Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { ChunkForm, PartSource } from '../../core/rows/frame-engine.ts';
import { frameDamaged, frameReplaced } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import { definitionOf, lineageOf, type Manifest, typesReadAs, type ViewDefinition } from '../disk/manifest.ts';
import { FileChanged, type PinnedParts } from '../disk/part-links.ts';
import type { TailUse } from '../log/tail-files.ts';
import { leaseLost } from '../peers/process-lease.ts';
import type { ChunkReader, ReadOptions } from './chunk-reader.ts';
import type { SentRows } from './row-slices.ts';
import { tailRows } from './tail-rows.ts';

interface ReaderOptions {
  readonly now: () => number;
  /** The server has lost its place among the others, and with it the links for readers. */
  readonly hasLostPlace: () => Promise<boolean>;
}

/** One version of a frame, open for reading: the same rows until disposed, whatever happens to the handle. */
export class FrameReader implements AsyncDisposable {
  readonly handle: Handle;
  readonly version: number;
  /** Unique for each version: good for an ETag and for keys in the cache. */
  readonly versionId: string;
  /** See `HeldSummary`. */
  readonly lineage: string;
  readonly columns: readonly Column[];
  /** The types as which SQL reads columns, where they differ. */
  readonly readAs: Manifest['declared'];
  /** See `Manifest`. */
  readonly declared: Manifest['declared'];
  readonly constraints: Manifest['constraints'];
  /** Changes with the columns or constraints. */
  readonly definition: string;
  /** Set for a view: its rows are those of a query. */
  readonly view: ViewDefinition | undefined;
  readonly rows: number;
  /** As stored. */
  readonly bytes: number;
  readonly #version: FrameVersion;
  readonly #parts: PinnedParts;
  readonly #chunks: ChunkReader;
  readonly #now: () => number;
  readonly #hasLostPlace: () => Promise<boolean>;
  #isOpen = true;
  /** The rows of the log as files, if a reader needed them. */
  #tailUse: Promise<TailUse> | undefined;

  /** Takes over one use of `parts`. */
  constructor(version: FrameVersion, parts: PinnedParts, chunks: ChunkReader, { now, hasLostPlace }: ReaderOptions) {
    this.handle = version.manifest.handle;
    this.version = version.number;
    this.versionId = version.versionId;
    this.lineage = lineageOf(version.manifest);
    this.columns = version.manifest.columns;
    this.readAs = typesReadAs(version.manifest);
    this.declared = version.manifest.declared;
    this.constraints = version.manifest.constraints;
    this.definition = definitionOf(version.manifest);
    this.view = version.manifest.view;
    this.rows = version.rows;
    this.bytes = version.bytes;
    this.#version = version;
    this.#parts = parts;
    this.#chunks = chunks;
    this.#now = now;
    this.#hasLostPlace = hasLostPlace;
    version.readers.count++;
    version.touch(now());
  }

  /** Rows [fromRow, toRow), in order, in pieces that can be sent one after the other. `select`: positions of columns; default all. */
  async *rowsEncoded(
    form: ChunkForm,
    fromRow: number,
    toRow: number,
    options: ReadOptions,
    select?: readonly number[],
  ): AsyncGenerator<SentRows, void, void> {
    if (!this.#isOpen) throw new AppError('internal', 'the reader is closed');
    try {
      const { storedRows, tail } = this.#version;
      const from = Math.max(0, fromRow);
      const to = Math.min(this.rows, toRow);
      if (from < storedRows) {
        const stored = { version: this.#version, parts: this.#parts, form, select };
        yield* this.#chunks.rows({ ...stored, fromRow: from, toRow: Math.min(storedRows, to) }, options);
      }
      if (to <= storedRows) return;
      for (const sent of tailRows(tail, this.columns, {
        form,
        fromRow: Math.max(storedRows, from),
        toRow: to,
        select,
      })) {
        options.signal.throwIfAborted();
        yield sent;
      }
    } catch (error) {
      if (error instanceof FileChanged) throw await this.#whyChanged(error);
      if (error instanceof AppError && (error.code === 'frame_damaged' || error.code === 'invalid_input')) {
        if (await this.#hasLostPlace()) throw leaseLost(error);
        throw frameDamaged(this.handle, 'it is not readable', error);
      }
      throw error;
    }
  }

  /**
   * The files of this version: unchanged until the reader is disposed of. `reader`: the tenant whose folder gets the links.
   * Default: the tenant of the frame.
   */
  async sources(reader?: Tenant): Promise<readonly PartSource[]> {
    try {
      const parts = await this.#parts.sources(reader);
      const { tail, tailFiles } = this.#version;
      if (tail.rows === 0) return parts;
      this.#tailUse ??= tailFiles.open(tail, this.columns);
      return [...parts, ...(await (await this.#tailUse).sources(reader))];
    } catch (error) {
      throw error instanceof FileChanged ? await this.#whyChanged(error) : error;
    }
  }

  async #whyChanged(error: FileChanged): Promise<AppError> {
    if (await this.#hasLostPlace()) return leaseLost(error);
    if (this.#parts.isVerified) return frameReplaced(this.handle, error);
    return frameDamaged(this.handle, 'its bytes are not those that were written (checksum)', error);
  }

  /** Aborts when the handle gets another version, or none. */
  get retired(): AbortSignal {
    return this.#version.retired;
  }

  /** Keeps the files for longer than the reader. */
  holdFiles(): Disposable {
    this.#parts.acquire();
    const tailUse = this.#tailUse?.then((use) => use.again());
    tailUse?.catch(() => {});
    return {
      [Symbol.dispose]: () => {
        this.#parts.release();
        tailUse?.then(
          (use) => use[Symbol.dispose](),
          () => {},
        );
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#version.readers.count--;
    this.#version.touch(this.#now());
    this.#parts.release();
    await this.#tailUse?.then(
      (use) => use[Symbol.dispose](),
      () => {},
    );
  }
}
