import { createHash } from 'node:crypto';

/** A value as one line of JSON and a line with its checksum, so that a torn or edited file is noticed. */
export function withChecksum(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\n${sha256(json)}\n`;
}

/** Undefined if the text is not exactly as `withChecksum` made it. */
export function parseChecksummed(text: string): unknown {
  const end = text.indexOf('\n');
  if (end < 0) return undefined;
  const json = text.slice(0, end);
  return text.slice(end) === `\n${sha256(json)}\n` ? JSON.parse(json) : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
