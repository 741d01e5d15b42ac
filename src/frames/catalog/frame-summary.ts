import type { Column } from '@framehold/columns';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { FileReport } from '../../core/rows/frame-engine.ts';
import { lineageOf, type Manifest, originOf, totalBytes, type ViewDefinition } from '../disk/manifest.ts';
import type { Entry } from './catalog.ts';
import type { FrameVersion } from './frame-version.ts';

export interface HeldSummary {
  readonly state: 'held';
  readonly handle: FrameName;
  readonly version: number;
  readonly versionId: string;
  /** See `Manifest`. */
  readonly origin: string;
  /** Stays while the frame grows, and changes when its rows are replaced: row numbers hold within one. */
  readonly lineage: string;
  /** Cache key of its rows; pages have the id of the version as their key. */
  readonly contentId: string;
  /** None of a view's own. */
  readonly rows: number;
  /** As stored. */
  readonly bytes: number;
  readonly columns: readonly Column[];
  /** See `Manifest`. */
  readonly declared?: Manifest['declared'];
  readonly hasUncheckedRows?: Manifest['hasUncheckedRows'];
  readonly constraints?: Manifest['constraints'];
  /** Set for a view. */
  readonly view?: ViewDefinition | undefined;
  readonly createdAt: number;
  /** In milliseconds since 1970; undefined when the frame stays. */
  readonly expiresAt: number | undefined;
  /** Null when the frame stays. */
  readonly ttlMs: number | null;
}

export interface DamagedSummary {
  readonly state: 'damaged';
  readonly handle: FrameName;
  readonly version: number;
  readonly bytes: number;
  readonly reason: string;
}

export type FrameSummary = HeldSummary | DamagedSummary;

export interface PutResult extends HeldSummary {
  /** Those of this put: after an append, `rows` are more. */
  readonly rowsPut: number;
  /** As they are stored. */
  readonly bytesPut: number;
  /** An append of a producer that was seen before: its rows were not added again. */
  readonly isRepeated: boolean;
  /** Set if the source was a file. */
  readonly report: FileReport | undefined;
}

export interface ChangeResult extends HeldSummary {
  /** Rows of the frame before. */
  readonly rowsBefore: number;
}

/** Undefined where there is nothing to be shown of a handle. */
export function frameSummary(handle: Handle, entry: Entry | undefined, now: number): FrameSummary | undefined {
  if (entry?.kind === 'damaged') {
    const { version, reason, files } = entry;
    return { state: 'damaged', handle, version, bytes: totalBytes(files), reason };
  }
  if (entry?.kind !== 'held' || entry.version.isExpired(now)) return undefined;
  return heldSummary(entry.version);
}

export function heldSummary(version: FrameVersion): HeldSummary {
  const { handle, columns, declared, hasUncheckedRows, constraints, view, createdAt, ttlMs } = version.manifest;
  const { number, versionId, contentId, rows, bytes, expiresAt } = version;
  const origin = originOf(version.manifest);
  const lineage = lineageOf(version.manifest);
  return {
    state: 'held',
    handle,
    version: number,
    versionId,
    origin,
    lineage,
    contentId,
    rows,
    bytes,
    columns,
    declared,
    hasUncheckedRows,
    constraints,
    view,
    createdAt,
    expiresAt,
    ttlMs,
  };
}
