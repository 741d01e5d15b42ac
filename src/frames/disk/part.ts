import type { BigIntStats } from 'node:fs';

/** Distinguishes states of a file without reading it. */
export interface Identity {
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
}

/** A file of a tenant, `file` relative to the tenant's directory. */
export interface FileIdentity extends Identity {
  readonly file: string;
}

/** A Parquet file that holds consecutive rows of a frame. */
export interface Part extends FileIdentity {
  /** Null for files from outside: their right bytes are unknown. */
  readonly checksum: string | null;
  readonly rows: number;
  readonly uncompressedBytes: number;
  /** The number of the frame's columns in it, the first ones: the others were added later. Absent: all. */
  readonly columnCount?: number | undefined;
  /** Already compressed as configured, or not ours to rewrite. */
  readonly final: boolean;
  /**
   * It is known what DuckDB would misread of it. Absent: it is examined in the background, as files of version 0.1.0, which are
   * rewritten where DuckDB misreads them, and files from outside.
   */
  readonly exact?: true | undefined;
  /** Of a file from outside: no NaN lies beside the bounds of its floats. Absent: some does, or it is not known. */
  readonly isFreeOfNan?: true | undefined;
}

export function isToExamine({ exact }: Part): boolean {
  return exact === undefined;
}

export function identityOf(stats: BigIntStats): Identity {
  return { ino: String(stats.ino), size: Number(stats.size), mtimeNs: String(stats.mtimeNs) };
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** The same files under the same names, in the same order. */
export function sameFiles(a: readonly FileIdentity[], b: readonly FileIdentity[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, index) => {
      const other = b[index];
      return other !== undefined && one.file === other.file && sameIdentity(one, other);
    })
  );
}

export function justIdentity({ file, ino, size, mtimeNs }: FileIdentity): FileIdentity {
  return { file, ino, size, mtimeNs };
}
