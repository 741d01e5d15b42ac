import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'fh_';
/** 178 random bits. */
const randomLength = 30;
const checksumLength = 6;
const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** `fh_`, 30 random characters and 6 of a checksum: scanners find leaked ones, and a typo needs no look-up. */
export function generateToken(): string {
  let text = prefix;
  for (let n = 0; n < randomLength; n++) text += alphabet[randomInt(alphabet.length)];
  return text + checksumOf(text);
}

/** Whether a credential is meant to be one of our tokens; JWTs never begin so. */
export function looksLikeToken(secret: string): boolean {
  return secret.startsWith(prefix);
}

/** False for a token that was mistyped or cut. */
export function isWellFormed(token: string): boolean {
  if (!pattern.test(token)) return false;
  const end = token.length - checksumLength;
  return checksumOf(token.slice(0, end)) === token.slice(end);
}

/** The stored form of a token. It has enough random bits for a fast hash. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let n = 0; n < checksumLength; n++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
