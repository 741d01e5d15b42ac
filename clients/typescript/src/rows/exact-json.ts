/** No text of a row begins so: it cannot be guessed. */
const mark = `\0${crypto.getRandomValues(new Uint32Array(2)).join('-')}:`;
/** Whole numbers of 16 digits and more. Strings are matched to be passed over. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/g;

/** As JSON.parse, but whole numbers of 16 digits and more are texts that `bigintOf` and `revived` read. */
export function parseExactJson(text: string): unknown {
  // Most texts have no such number, though a string may look as if it had one.
  if (!/[[,:]\s*-?\d{16,}\s*[,\]}]/.test(text)) return JSON.parse(text);
  const quoted = JSON.stringify(mark).slice(0, -1);
  return JSON.parse(text.replace(tokens, (token) => (token.startsWith('"') ? token : `${quoted}${token}"`)));
}

/** A whole number of such a text. */
export function bigintOf(value: string | number): bigint {
  return BigInt(typeof value === 'string' && value.startsWith(mark) ? value.slice(mark.length) : value);
}

/** A value of JSON, where whole numbers beyond 2^53 are bigints. */
export function revived(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? number(bigintOf(value)) : value;
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revived(each)]));
}

function number(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
