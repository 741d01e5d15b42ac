interface RawJson {
  /** A value that JSON.stringify writes as this text. */
  rawJSON?(text: string): unknown;
}

/**
 * As JSON.parse, but integers beyond 2^53 keep their digits, if the browser gives the text of a number. For JSON and arrays: the
 * server quotes only whole cells.
 */
export function parseExactJson(text: string): unknown {
  const { rawJSON } = JSON as RawJson;
  if (rawJSON === undefined || !/\d{16}/.test(text)) return JSON.parse(text);
  const reviver = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const source = context?.source ?? '';
    return /^-?\d+$/.test(source) ? rawJSON(source) : value;
  };
  return JSON.parse(text, reviver);
}
