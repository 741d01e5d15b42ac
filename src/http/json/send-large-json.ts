import { lightBytes, ownTurn } from '@framehold/async';
import { jsonContentType } from '../exchange/error-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { sendBody } from '../exchange/send-body.ts';

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

/** Texts up to this length are not cut. */
const mostCharacters = 16 * 1024;

/** What `JSON.stringify` gives, in small parts; other iterables are lists too, and are read as the parts are taken. */
export function* jsonParts(value: unknown): Generator<string, void, undefined> {
  if (typeof value === 'string') yield* textParts(value);
  else if (typeof value !== 'object' || value === null || isSmall(value)) yield JSON.stringify(value);
  else if (Symbol.iterator in value) {
    let before = '[';
    for (const item of value as Iterable<unknown>) {
      yield before;
      yield* jsonParts(item);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonParts(member);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

/** An object of short values alone, as most columns are. */
function isSmall(value: object): boolean {
  if (Symbol.iterator in value) return false;
  for (const member of Object.values(value)) {
    if (typeof member === 'object' ? member !== null : typeof member === 'string' && member.length > 100) return false;
  }
  return true;
}

function* textParts(text: string): Generator<string, void, undefined> {
  if (text.length <= mostCharacters) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + mostCharacters;
    // Half of a pair would be escaped.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
  }
  yield '"';
}
