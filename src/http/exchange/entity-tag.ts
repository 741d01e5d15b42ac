import type { ContentCoding } from './content-coding.ts';
import type { Exchange } from './exchange.ts';

/** Identifies the bytes of a version's rows as they are sent. */
export function entityTag(versionId: string, coding: ContentCoding | undefined): string {
  return coding === undefined ? `"${versionId}"` : `"${versionId}-${coding}"`;
}

/** Does `If-None-Match` name this entity? Weak comparison, as RFC 9110 wants it for GET. */
export function matchesEntityTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

export function sendNotModified(exchange: Exchange, etag: string): void {
  exchange.headers.push('etag', etag, ...exchange.cacheControl('no-cache'));
  exchange.send(304);
}
