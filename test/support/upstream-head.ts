/** The request line and headers of one HTTP request as they came. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly parameters: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

export function httpHead(text: string): RequestHead {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const [method = '', target = ''] = requestLine.split(' ');
  const { pathname, searchParams } = new URL(target, 'http://upstream');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { method, path: pathname, parameters: searchParams, headers, text };
}
