import { jsonContentType } from '../exchange/error-response.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** Answers with a small document that no cache may keep. */
export function sendJson(exchange: Exchange, document: object): void {
  sendText(exchange, JSON.stringify(document), { contentType: jsonContentType });
}

export function sendText(
  exchange: Exchange,
  text: string,
  { status = 200, contentType = 'text/plain; charset=utf-8' } = {},
): void {
  exchange.headers.push('content-type', contentType, ...exchange.cacheControl('no-store'));
  exchange.headers.push('content-length', String(Buffer.byteLength(text)));
  exchange.send(status, text);
}
