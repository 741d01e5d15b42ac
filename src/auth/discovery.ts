import { request } from 'undici';
import { isLoopback } from '../core/callers/loopback.ts';

/** The used fields of an issuer's discovery document (OpenID Connect). */
export interface Discovery {
  readonly jwksUrl: string;
  /** Undefined: no login by a browser. */
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
}

const fetchTimeoutMs = 5000;
const maxBytes = 1_000_000;

export async function discover(issuer: string): Promise<Discovery> {
  const document = (await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)) as Record<
    string,
    unknown
  >;
  if (document.issuer !== issuer) throw new Error('the discovery document names another issuer');
  const jwksUrl = safeUrl(document.jwks_uri);
  if (jwksUrl === undefined) throw new Error('the discovery document names no jwks_uri with https');
  return {
    jwksUrl,
    authorizationEndpoint: safeUrl(document.authorization_endpoint),
    tokenEndpoint: safeUrl(document.token_endpoint),
  };
}

/** Redirects are not followed. */
export async function fetchJson(url: string): Promise<unknown> {
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(fetchTimeoutMs),
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`status ${statusCode}`);
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += (piece as Buffer).length;
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    pieces.push(piece as Buffer);
  }
  return JSON.parse(Buffer.concat(pieces).toString());
}

/** With https, or on this machine itself. As `URL` writes it: the policy of the console names its origin. */
function safeUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, hostname, href } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? href : undefined;
}
