import { AppError } from '../../core/app-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { type BodyLimits, requestBody } from '../exchange/request-body.ts';
import type { Exchange } from '../exchange/route.ts';
import { type JsonObject, type JsonValue, parseJson } from './json-text.ts';

/** Large enough for a long list of parameters; rows come by other doors. */
const maxJsonBytes = 16_000_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonLimits extends BodyLimits {
  /** An answer begins within it, so the body must have come by then. */
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
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    throw new AppError('invalid_input', `the body is ${kindOf(value)}, not a JSON object`, {
      hint: `send an object with ${keys.join(', ')}`,
    });
  }
  checkKeys(value, keys, 'the body');
  return value as ReadonlyMap<Key, JsonValue>;
}

export function checkKeys(object: JsonObject, keys: readonly string[], what: string): void {
  for (const key of object.keys()) {
    if (keys.includes(key)) continue;
    const shown = JSON.stringify(key.slice(0, 100));
    throw new AppError('invalid_parameter', `${what} has an unknown key ${shown}${didYouMean(key, keys)}`, {
      hint: `the keys are ${keys.join(', ')}`,
    });
  }
}

/** A key whose value is of another kind than it should be. */
export function wrongType(key: string, value: JsonValue, accepted: string): AppError {
  return new AppError('invalid_parameter', `${key} is ${kindOf(value)}; it must be ${accepted}`);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 100))}`;
  return `${typeof value === 'boolean' ? '' : 'the number '}${value}`;
}

async function bodyText(exchange: Exchange, limits: JsonLimits): Promise<string> {
  const coding = exchange.request.headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') {
    throw new AppError('invalid_input', `a body in Content-Encoding ${JSON.stringify(coding)} is not read here`, {
      hint: 'send the JSON as it is',
    });
  }
  const pieces: Buffer[] = [];
  const deadline = performance.now() + limits.requestTimeoutMs;
  for await (const piece of requestBody(exchange, limits)) {
    // A byte now and then never stands still, and would hold its place among the requests for years.
    if (performance.now() > deadline) throw tooSlow(limits.requestTimeoutMs);
    pieces.push(piece);
  }
  try {
    return utf8.decode(Buffer.concat(pieces));
  } catch {
    throw new AppError('invalid_input', 'the body is not UTF-8');
  }
}

function tooSlow(requestTimeoutMs: number): AppError {
  return new AppError('invalid_input', `the body did not come within ${requestTimeoutMs / 1000} s`, {
    hint: 'send it faster, or let the operator raise http.request_timeout',
  });
}

/** What curl says of any body, and what says nothing. */
const unsaid = new Set(['', 'application/x-www-form-urlencoded']);

function checkContentType({ request }: Exchange): void {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || type.endsWith('+json') || unsaid.has(type)) return;
  throw new AppError('invalid_input', `a body of type ${JSON.stringify(type.slice(0, 100))} is not read here`, {
    hint: 'send JSON with Content-Type: application/json',
  });
}
