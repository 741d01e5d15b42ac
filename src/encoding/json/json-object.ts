import { AppError } from '../../core/errors/app-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { type JsonObject, type JsonValue, parseJson } from './json-text.ts';

/** A JSON object of a caller, with none but these keys. `what` names it in errors, e.g. "the ticket". */
export function parseJsonObject<const Key extends string>(
  text: string,
  keys: readonly Key[],
  what: string,
): ReadonlyMap<Key, JsonValue> {
  const value = parseJson(text, what);
  if (!isJsonObject(value)) {
    throw new AppError('invalid_input', `${what} is ${kindOf(value)}, not a JSON object`, {
      hint: `send an object with ${keys.join(', ')}`,
    });
  }
  checkKeys(value, keys, what);
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

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

/** A value in words, for errors. */
export function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 100))}`;
  return `${typeof value === 'boolean' ? '' : 'the number '}${value}`;
}
