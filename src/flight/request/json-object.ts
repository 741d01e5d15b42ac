import { AppError } from '../../core/app-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as text; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a caller wrote as a JSON object, with no keys but these. `what` names it in errors, e.g. "the ticket". */
export function parseJsonObject<const K extends string>(
  text: string,
  keys: readonly K[],
  what: string,
): { readonly [P in K]?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_parameter', `${what} is not valid JSON: ${JSON.stringify(text.slice(0, 40))}`, {
      hint: `it is an object that may have ${keys.join(', ')}`,
      cause,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid_parameter', `${what} is not a JSON object`, { hint: `it may have ${keys.join(', ')}` });
  }
  for (const key of Object.keys(value)) {
    if (keys.includes(key as K)) continue;
    const meant = didYouMean(key, keys) || `; it may have ${keys.join(', ')}`;
    throw new AppError('invalid_parameter', `${what} has an unknown key ${JSON.stringify(key.slice(0, 100))}${meant}`);
  }
  return value as { readonly [P in K]?: unknown };
}

export function invalidKey(what: string, key: string, value: unknown, accepted: string): AppError {
  const shown = (JSON.stringify(value) ?? 'undefined').slice(0, 100);
  return new AppError('invalid_parameter', `${key} of ${what} is ${shown}; it must be ${accepted}`);
}
