import { AppError } from '../../core/errors/app-error.ts';
import { kindOf, parseJsonObject } from '../../encoding/json/json-object.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as text; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The keys of a caller's JSON object, and none but these. `what` names it in errors, e.g. "the ticket". */
export function readJsonKeys<const K extends string>(
  text: string,
  keys: readonly K[],
  what: string,
): { readonly [P in K]?: JsonValue } {
  try {
    return Object.fromEntries(parseJsonObject(text, keys, what)) as { readonly [P in K]?: JsonValue };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    const { message, hint } = error;
    throw new AppError('invalid_parameter', message, { hint, cause: error });
  }
}

export function invalidKey(what: string, key: string, value: JsonValue, accepted: string): AppError {
  return new AppError('invalid_parameter', `${key} of ${what} is ${kindOf(value)}; it must be ${accepted}`);
}
