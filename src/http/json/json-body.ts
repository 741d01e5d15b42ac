import { isUtf8 } from 'node:buffer';
import { lightBytes, ownTurn } from '@framehold/async';
import { AppError } from '../../core/errors/app-error.ts';
import { kindOf, parseJsonObject } from '../../encoding/json/json-object.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { BodyLimits } from '../exchange/request-body.ts';

/** Large enough for a long list of parameters; rows have other routes. It is parsed in one go. */
const maxJsonBytes = 8_000_000;
const byteOrderMark = '\ufeff';

export interface JsonLimits extends BodyLimits {
  /** An answer begins within it, so the body must have arrived by then. */
  readonly requestTimeoutMs: number;
}

/** The JSON object that is a request's body, with none but these keys. Undefined where there is no body. */
export async function jsonBody<const Key extends string>(
  exchange: Exchange,
  keys: readonly Key[],
  limits: JsonLimits,
): Promise<ReadonlyMap<Key, JsonValue> | undefined> {
  const maxBodyBytes = Math.min(limits.maxBodyBytes, maxJsonBytes);
  const text = await bodyText(exchange, { ...limits, maxBodyBytes });
  if (text.trim() === '') return undefined;
  checkContentType(exchange);
  if (text.length > lightBytes) await ownTurn(exchange.lane);
  return parseJsonObject(text, keys, 'the body');
}

/** The error for a value of the wrong kind. */
export function wrongType(key: string, value: JsonValue, accepted: string): AppError {
  return new AppError('invalid_parameter', `${key} is ${kindOf(value)}; it must be ${accepted}`);
}

async function bodyText(exchange: Exchange, limits: JsonLimits): Promise<string> {
  const coding = exchange.requestHeaders['content-encoding'] ?? 'identity';
  if (coding !== 'identity') {
    throw new AppError('invalid_input', `a body in Content-Encoding ${JSON.stringify(coding)} is not read here`, {
      hint: 'send the JSON as it is',
    });
  }
  const bytes = await exchange.hold(inTime(exchange.body(limits), limits.requestTimeoutMs));
  if (!isUtf8(bytes)) throw new AppError('invalid_input', 'the body is not UTF-8');
  // Five times as fast as a TextDecoder, which takes this mark off.
  const text = bytes.toString();
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

/** A client that sends a byte now and then never stalls, and would keep its place among the requests for years. */
async function* inTime(body: AsyncIterable<Buffer>, requestTimeoutMs: number): AsyncGenerator<Buffer, void, undefined> {
  const deadline = performance.now() + requestTimeoutMs;
  for await (const piece of body) {
    if (performance.now() > deadline) throw tooSlow(requestTimeoutMs);
    yield piece;
  }
}

function tooSlow(requestTimeoutMs: number): AppError {
  return new AppError('invalid_input', `the body did not come within ${requestTimeoutMs / 1000} s`, {
    hint: 'send it faster, or let the operator raise http.request_timeout',
  });
}

/** The media type that curl sends with any body, and an empty one. */
const unsaid = new Set(['', 'application/x-www-form-urlencoded']);

function checkContentType({ requestHeaders }: Exchange): void {
  const type = (requestHeaders['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || type.endsWith('+json') || unsaid.has(type)) return;
  throw new AppError('invalid_input', `a body of type ${JSON.stringify(type.slice(0, 100))} is not read here`, {
    hint: 'send JSON with Content-Type: application/json',
  });
}
