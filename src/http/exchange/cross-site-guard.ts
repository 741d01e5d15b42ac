import { AppError } from '../../core/errors/app-error.ts';
import type { Exchange } from './exchange.ts';

/**
 * Any page on the web can make its reader's browser send a form to a server that the reader reaches, without asking
 * first. Only pages of our own, and of the origins that the operator names, may write.
 */
export function refuseCrossSite(exchange: Exchange): void {
  if (isOfOtherSite(exchange)) refuse(exchange);
}

function isOfOtherSite({ requestHeaders }: Exchange): boolean {
  const { origin, host } = requestHeaders;
  // Browsers send it to https and to localhost; behind a proxy our Host may differ from the page's.
  const site = requestHeaders['sec-fetch-site'];
  if (site === undefined) return origin !== undefined && !isAt(origin, host);
  return site === 'cross-site' || site === 'same-site';
}

function refuse({ requestHeaders, headers }: Exchange): void {
  const { origin } = requestHeaders;
  if (headers.some((name, index) => index % 2 === 0 && name === 'access-control-allow-origin')) return;
  throw new AppError('invalid_input', `a page of another site (${(origin ?? 'unknown').slice(0, 200)}) sent this`, {
    hint: 'let the operator add its origin to http.cors_origins',
  });
}

function isAt(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
