const inside: readonly RegExp[] = [
  /\bat [^\n]{1,200}\.(?:js|ts|cjs|mjs):\d+/,
  /node:internal/,
  /INTERNAL Error|Stack Trace|Assertion (?:triggered|failed)/,
  /duckdb::|std::(?:bad_alloc|exception|vector|string)|terminate called/,
  /__pivot_enum|framehold_insert|temp\.main\./,
  /\.framehold\//,
];

/** What an answer shows of how the server works or where its files are, beyond what the statement said itself. */
export function insideShown(
  text: string,
  { folder, sql }: { readonly folder: string; readonly sql: string },
): string | undefined {
  for (const pattern of inside) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined && !sql.includes(found)) return around(text, found);
  }
  if (text.includes(folder) && !sql.includes(folder)) return around(text, folder);
  return undefined;
}

function around(text: string, found: string): string {
  const at = text.indexOf(found);
  return text.slice(Math.max(0, at - 150), at + found.length + 150);
}
