import type { Answer } from '#client/api.ts';
import { call } from '../api/request.ts';

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
