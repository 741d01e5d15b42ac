import { lightBytes, ownTurn } from '@framehold/async';
import { jsonContentType } from '../exchange/error-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { sendBody } from '../exchange/send-body.ts';
import { jsonParts } from './json-parts.ts';

/** Answers as `sendJson`, with a document that may be large: it is made as the client takes it, each piece in a turn of its own. */
export async function sendLargeJson(exchange: Exchange, document: object): Promise<void> {
  const headers = ['content-type', jsonContentType];
  await sendBody(exchange, jsonPieces(document, exchange.lane), { headers, coding: undefined });
}

async function* jsonPieces(document: object, lane: string): AsyncGenerator<Uint8Array, void, undefined> {
  let text = '';
  for (const part of jsonParts(document)) {
    text += part;
    if (text.length < lightBytes) continue;
    yield Buffer.from(text);
    text = '';
    await ownTurn(lane);
  }
  yield Buffer.from(text);
}
