import { AppError } from '../../core/errors/app-error.ts';
import { parseDurationMs } from '../../core/text/duration.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { JsonSchema } from '../exchange/parameters.ts';
import { wrongType } from './json-body.ts';

export const ttlSchema: JsonSchema = {
  type: ['string', 'number', 'null'],
  description: 'A time to live: seconds, or text such as "90s", "15m", "12h", "7d". null or "none": the frame stays.',
};

/** A time to live in a JSON body, in milliseconds; null lets the frame stay. */
export function parseTtl(ttl: JsonValue | undefined, key = 'ttl'): number | null | undefined {
  if (ttl === undefined || ttl === null) return ttl;
  if (typeof ttl !== 'string' && typeof ttl !== 'number')
    throw wrongType(key, ttl, 'a duration such as "15m", or null');
  if (typeof ttl === 'string' && ttl.toLowerCase() === 'none') return null;
  const ttlMs = parseDurationMs(String(ttl));
  if (ttlMs > 0) return ttlMs;
  throw new AppError('invalid_parameter', `${key} is 0`, { hint: `it is more than 0; null lets the frame stay` });
}
