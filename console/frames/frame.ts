import { getJson } from '../api/request.ts';
import type { GridColumn } from '../grid/grid-source.ts';

/** A frame, as /handles tells of it. What is not known of a damaged one is null. */
export interface Frame {
  /** `owner/handle` where another tenant shares it. */
  readonly handle: string;
  readonly shared?: true;
  readonly kind: 'frame' | 'view';
  /** Of a view of one's own: its query. */
  readonly sql?: string;
  readonly state: 'held' | 'damaged';
  readonly version: number;
  readonly versionId: string | null;
  readonly rows: number | null;
  readonly columns: readonly FrameColumn[] | null;
  readonly bytes: { readonly cold: number; readonly hot: number };
  readonly created: string | null;
  /** In seconds; null: it stays. */
  readonly ttl: number | null;
  readonly expires: string | null;
  readonly damaged: string | null;
}

export interface FrameColumn {
  readonly name: string;
  readonly type: string;
  readonly dim?: number;
  readonly elemType?: string;
}

export function framePath(handle: string, rest = ''): string {
  return `/handles/${encodeURIComponent(handle)}${rest}`;
}

export function describeFrame(handle: string, signal?: AbortSignal): Promise<Frame> {
  return getJson<Frame>(framePath(handle), { signal });
}

/** Stays while the frame only grows; rows keep their numbers in it. */
export function lineageOf(versionId: string): string {
  return versionId.split('.', 1)[0] ?? versionId;
}

/** The version that an ETag names, which may have the coding of the answer behind it. */
export function versionIdOf(etag: string): string {
  return etag
    .replace(/^W\//, '')
    .replace(/^"|"$/g, '')
    .replace(/-(gzip|br)$/, '');
}

/** `DOUBLE[][]` for an array of two dimensions. */
export function typeName({ type, elemType, dim = 1 }: FrameColumn): string {
  return type === 'ARRAY' && elemType !== undefined ? elemType + '[]'.repeat(dim) : type;
}

export function gridColumn(column: FrameColumn): GridColumn {
  return { name: column.name, type: typeName(column) };
}
