import { open } from 'node:fs/promises';
import type { Column } from '@framehold/columns';
import { AppError, isTransient } from '../../core/errors/app-error.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';
import { columnDifference } from '../catalog/column-difference.ts';
import { storage } from '../disk/durable-file.ts';
import { type FileIdentity, justIdentity, type Part, sameIdentity } from '../disk/part.ts';
import { FileChanged } from '../disk/part-links.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';

/** A file that cannot be a frame; the message says why, without a path. */
export class Unreadable extends Error {}

export interface AdoptedParts {
  readonly columns: readonly Column[];
  readonly parts: readonly Part[];
}

/** Looks into files from outside; rejects with Unreadable when they are no frame. */
export class FileAdopter {
  readonly #engine: FrameEngine;
  readonly #directory: TenantDirectory;

  constructor(engine: FrameEngine, directory: TenantDirectory) {
    this.#engine = engine;
    this.#directory = directory;
  }

  get #lane(): string {
    return `${this.#directory.tenant}#adoption`;
  }

  async adopt(files: readonly FileIdentity[], known: readonly Part[], signal: AbortSignal): Promise<AdoptedParts> {
    const found: { readonly part: Part; readonly columnCount: number }[] = [];
    let columns: readonly Column[] | undefined;
    for (const file of files) {
      const name = file.file;
      const path = this.#directory.path(name);
      if (!(await looksLikeParquet(path, file.size))) {
        throw new Unreadable(`${name} does not begin and end as a Parquet file does`);
      }
      const facts = await this.#probe(path, name, signal);
      columns = columns === undefined ? facts.columns : widerOf(columns, facts.columns, name);
      const identity = await this.#directory.identify(path);
      if (identity === undefined || !sameIdentity(identity, file)) throw new FileChanged(name);
      const ours = known.find((part) => sameIdentity(part, file)) ?? (await this.#sameBytes(known, file, path, signal));
      const part = {
        ...justIdentity(file),
        checksum: ours?.checksum ?? null,
        rows: facts.rows,
        uncompressedBytes: facts.uncompressedBytes,
        final: ours?.final ?? true,
        exact: ours?.exact,
        isFreeOfNan: ours?.isFreeOfNan,
      };
      found.push({ part, columnCount: facts.columns.length });
    }
    const count = columns?.length ?? 0;
    const parts = found.map(({ part, columnCount }) => (columnCount === count ? part : { ...part, columnCount }));
    return { columns: columns ?? [], parts };
  }

  /** A copy of our own file, in the same place: it keeps its checksum. */
  async #sameBytes(
    known: readonly Part[],
    { file, size }: FileIdentity,
    path: string,
    signal: AbortSignal,
  ): Promise<Part | undefined> {
    const like = known.find((part) => part.file === file && part.size === size && part.checksum !== null);
    if (like === undefined || like.checksum === null) return undefined;
    const isSame = await this.#engine.hasChecksum(path, like.checksum, { signal, lane: this.#lane });
    return isSame ? like : undefined;
  }

  async #probe(path: string, name: string, signal: AbortSignal) {
    try {
      return await this.#engine.probe(path, { signal, lane: this.#lane });
    } catch (error) {
      if (signal.aborted || isTransient(error) || !(error instanceof AppError)) throw error;
      throw new Unreadable(`${name} is not readable: ${error.message.replaceAll(path, name)}`, { cause: error });
    }
  }
}

/** The columns of the files before and of this one: the same, or some that one of them has only the first of. */
function widerOf(before: readonly Column[], columns: readonly Column[], name: string): readonly Column[] {
  const common = Math.min(before.length, columns.length);
  const difference = columnDifference(before.slice(0, common), columns.slice(0, common));
  if (difference !== undefined) throw new Unreadable(`${name} does not fit the parts before it: ${difference}`);
  return columns.length > before.length ? columns : before;
}

export async function looksLikeParquet(path: string, size: number): Promise<boolean> {
  if (size < 12) return false;
  return storage(async () => {
    const file = await open(path, 'r');
    try {
      const marks = Buffer.alloc(8);
      await file.read(marks, 0, 4, 0);
      await file.read(marks, 4, 4, size - 4);
      return marks.toString('latin1') === 'PAR1PAR1';
    } finally {
      await file.close();
    }
  });
}
