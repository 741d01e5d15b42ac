/** Address of the external database, and our credentials. */
export interface UpstreamAddress {
  /** Scheme, host and port; never credentials. */
  readonly origin: string;
  /** The path before `/exec`. */
  readonly basePath: string;
  /** The Basic authorization from the URL's user and password. */
  readonly authorization: string | undefined;
}

export function parseUpstreamAddress(url: string): UpstreamAddress {
  // The error of `new URL` contains its input, password and all.
  if (!URL.canParse(url)) throw new Error('the URL of the external database is not a URL');
  const { origin, pathname, username, password } = new URL(url);
  return {
    origin,
    basePath: pathname.replace(/\/+$/, ''),
    authorization: username === '' && password === '' ? undefined : basicAuthorization(username, password),
  };
}

function basicAuthorization(username: string, password: string): string {
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
}

/** A password may hold a bare `%`, which the URL parser does not change. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
