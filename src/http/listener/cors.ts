import type { Exchange } from '../exchange/exchange.ts';

export interface CorsPolicy {
  /** Origins whose pages may call the server, or `*`. */
  readonly origins: readonly string[];
}

const preflightSeconds = 600;

/** Response headers that pages cannot read by default. */
const exposedHeaders = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Lineage',
  'Next-Row',
  'Retry-After',
  'Up-To-Date',
  'X-Framehold-Engine',
  'X-Framehold-Engine-Reason',
  'X-Framehold-Tsdb-Rows',
  'X-Framehold-Tsdb-Bytes',
  'X-Framehold-Tsdb-Pushed',
  'X-Request-Id',
].join(', ');

/** Sets the headers by which a browser lets another site's page read the answer. */
export function allowOrigin(policy: CorsPolicy, { method, requestHeaders, headers }: Exchange): void {
  const any = policy.origins.includes('*');
  if (!any) headers.push('vary', 'Origin');
  const origin = requestHeaders.origin;
  if (origin === undefined || !(any || policy.origins.includes(origin))) return;
  headers.push('access-control-allow-origin', any ? '*' : origin);
  headers.push('access-control-expose-headers', exposedHeaders);
  if (method === 'OPTIONS' && requestHeaders['access-control-request-method'] !== undefined) {
    headers.push('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    headers.push('access-control-allow-headers', requestHeaders['access-control-request-headers'] ?? '');
    headers.push('access-control-max-age', String(preflightSeconds));
  }
}
