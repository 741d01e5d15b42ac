import { randomBytes } from 'node:crypto';
import { AppError } from '../errors/app-error.ts';

declare const handleBrand: unique symbol;

/** The name under which the server holds a frame. Minted only by `parseHandle` and `generateHandle`. */
export type Handle = string & { readonly [handleBrand]: true };

export const handlePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export function isHandle(text: string): text is Handle {
  return handlePattern.test(text);
}

export function parseHandle(text: string): Handle {
  if (isHandle(text)) return text;
  const shown = text.length > 140 ? `${text.slice(0, 140)}…` : text;
  throw new AppError('invalid_handle', `${JSON.stringify(shown)} is not a handle`, {
    hint: 'a handle has 1 to 128 characters of A-Z a-z 0-9 _ . - and does not start with . or -',
  });
}

/** `f_` and 128 random bits as 26 characters of Crockford base32. */
export function generateHandle(): Handle {
  return `f_${randomBase32(26)}` as Handle;
}

/** `length` characters of Crockford base32, five random bits each. */
export function randomBase32(length: number): string {
  let text = '';
  for (const byte of randomBytes(length)) text += crockford[byte & 31];
  return text;
}
