import type { ChunkKey } from '../../cache/disk-cache.ts';
import type { ChunkForm } from '../../core/rows/frame-engine.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { PinnedParts } from '../disk/part-links.ts';

/** Rows of one version in one form. */
export interface VersionRows {
  readonly version: FrameVersion;
  /** The files that the reader has pinned or may still pin. */
  readonly parts: PinnedParts;
  readonly form: ChunkForm;
  /** Only these columns, by position. Default: all. */
  readonly select?: readonly number[] | undefined;
  readonly fromRow: number;
  readonly toRow: number;
}

/**
 * Whether a whole cached chunk serves the range from this row on. Rows of JSON can be cut out of one; a record batch of Arrow is
 * sent whole or not at all.
 */
export function isOfChunk({ version, form, select, toRow }: VersionRows, row: number): boolean {
  if (select !== undefined) return false;
  if (form !== 'arrow') return true;
  const start = chunkOf(version, form, row) * version.chunkRows(form);
  return row === start && Math.min(version.storedRows, start + version.chunkRows(form)) <= toRow;
}

export function chunkOf(version: FrameVersion, form: ChunkForm, row: number): number {
  return Math.floor(row / version.chunkRows(form));
}

/** The rows of the chunk that has this one. */
export function chunkRange(version: FrameVersion, form: ChunkForm, row: number): readonly [from: number, to: number] {
  const chunkRows = version.chunkRows(form);
  const from = Math.floor(row / chunkRows) * chunkRows;
  return [from, Math.min(version.storedRows, from + chunkRows)];
}

/** Cache key of a chunk. The last chunk of a growing frame changes. */
export function chunkKey(version: FrameVersion, form: ChunkForm, row: number): string {
  const [from, to] = chunkRange(version, form, row);
  return `${form}:${from}:${to}`;
}

export function diskKey({ version, form }: VersionRows, row: number): ChunkKey {
  return { contentId: version.contentId, key: chunkKey(version, form, row) };
}
