import { jsonContentType } from '../exchange/error-response.ts';
import type { Exchange } from '../exchange/route.ts';

/** Answers with a small document that no cache may keep. */
export function sendJson({ request, response, headers }: Exchange, document: object): void {
  const body = JSON.stringify(document);
  headers.push('content-type', jsonContentType, 'cache-control', 'no-store');
  headers.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(200, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}
