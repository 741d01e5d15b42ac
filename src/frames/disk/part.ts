import type { BigIntStats } from 'node:fs';

/** What tells one state of a file from another without reading it. */
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
  /** Null for files from outside: we never knew what they should be. */
  readonly checksum: string | null;
  readonly rows: number;
  readonly uncompressedBytes: number;
  /** How many of the frame's columns it has, the first ones: the others were added later. Absent: all. */
  readonly columnCount?: number | undefined;
  /** Already compressed as configured, or not ours to rewrite. */
  readonly final: boolean;
  /**
   * No reader misses rows of it for what it says of its own values. Absent: not known, as of files of version 0.1.0, which are
   * looked at in the background and written anew where it is not so.
   */
  readonly exact?: true | undefined;
}

/** It was written by a version whose files DuckDB may read wrongly. */
export function isToExamine({ checksum, exact }: Part): boolean {
  return checksum !== null && exact === undefined;
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
