import type { Answer } from '#client/api.ts';
import { call } from '../api/request.ts';
import type { GridColumn } from '../grid/grid-source.ts';

export type Frame = Answer<'GET /handles/{handle}'>;
export type FrameColumn = NonNullable<Frame['columns']>[number];

export function framePath(handle: string, rest = ''): string {
  return `/handles/${encodeURIComponent(handle)}${rest}`;
}

export function describeFrame(handle: string, signal?: AbortSignal): Promise<Frame> {
  return call('GET /handles/{handle}', { segments: { handle }, signal });
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
