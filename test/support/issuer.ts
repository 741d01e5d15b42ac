import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, type JWK, SignJWT } from 'jose';

/** Ways in which an issuer fails on every request. */
const failures = {
  down: (response) => response.writeHead(503).end(),
  silent: () => {},
  cut: (response) => response.destroy(),
  slow: (response) => trickle(response, 100),
  noJson: (response) => response.end('<html>We will be back soon</html>'),
  endless: (response) => trickle(response, 0),
  anotherIssuer: (response) =>
    response.end('{"issuer":"https://other.example","jwks_uri":"https://other.example/keys"}'),
  noKeys: (response) => response.end('{"keys":"none"}'),
  redirect: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
} satisfies Record<string, (response: ServerResponse) => void>;

export type IssuerFault = keyof typeof failures;
export const issuerFaults = Object.keys(failures) as IssuerFault[];

/** A real issuer: discovery and keys over HTTP. */
export class TestIssuer {
  readonly #server: Server;
  #keys = new Map<string, KeyObject>();
  /** Of the keys. */
  fetches = 0;
  /** To fetch the keys, whether they succeed or not. */
  attempts = 0;
  fault: IssuerFault | undefined;
  /** Whether it sends people back without a code. */
  refusesLogins = false;
  /** Issued codes, with their parameters. */
  readonly #codes = new Map<string, URLSearchParams>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer();
    const issuer = new TestIssuer(server);
    server.on('request', async (request, response) => {
      const isDiscovery = request.url === '/.well-known/openid-configuration';
      if (isDiscovery) issuer.attempts += 1;
      if (issuer.fault !== undefined) return failures[issuer.fault](response);
      if (isDiscovery) {
        response.end(
          JSON.stringify({
            issuer: issuer.url,
            jwks_uri: `${issuer.url}/keys`,
            authorization_endpoint: `${issuer.url}/authorize`,
            token_endpoint: `${issuer.url}/token`,
          }),
        );
        return;
      }
      if (request.url?.startsWith('/authorize?') === true) return issuer.#authorize(request, response);
      if (request.url === '/token') return issuer.#exchange(request, response);
      issuer.fetches += 1;
      const keys: JWK[] = [];
      for (const [kid, key] of issuer.#keys) keys.push({ ...(await exportJWK(createPublicKey(key))), kid });
      response.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer.rotate('k1');
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  rotate(kid: string): void {
    this.#keys = new Map([[kid, newKey()]]);
  }

  sign(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> {
    const [[kid, key]] = [...this.#keys] as [[string, KeyObject]];
    const times = { iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 3600 };
    return new SignJWT({ iss: this.url, aud: 'framehold', sub: 'ann', groups: ['quants'], ...times, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid, ...header })
      .sign(key);
  }

  /** Lets every caller of a known client in, without a login. */
  #authorize({ url }: IncomingMessage, response: ServerResponse): void {
    const asked = new URL(url ?? '', this.url).searchParams;
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.searchParams.set('state', asked.get('state') ?? '');
    if (this.refusesLogins) {
      back.searchParams.set('error', 'access_denied');
    } else {
      const code = randomUUID();
      this.#codes.set(code, asked);
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
    const given = new URLSearchParams(await text(request));
    const code = given.get('code') ?? '';
    const asked = this.#codes.get(code);
    this.#codes.delete(code);
    const isGood =
      asked !== undefined &&
      given.get('grant_type') === 'authorization_code' &&
      given.get('client_id') === asked.get('client_id') &&
      given.get('redirect_uri') === asked.get('redirect_uri') &&
      asked.get('code_challenge_method') === 'S256' &&
      createHash('sha256')
        .update(given.get('code_verifier') ?? '')
        .digest('base64url') === asked.get('code_challenge');
    response.setHeader('content-type', 'application/json');
    if (!isGood) {
      response.writeHead(400).end('{"error":"invalid_grant"}');
      return;
    }
    const tokens = { access_token: 'opaque', id_token: await this.sign(), token_type: 'Bearer', expires_in: 3600 };
    response.end(JSON.stringify(tokens));
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Through PEM: Node 20 may hang if it collects a key's generator while that key is exported, which `jose` does. */
function newKey(): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return createPrivateKey(privateKey);
}

/** Spaces without an end, which JSON may begin with. */
function trickle(response: ServerResponse, everyMs: number): void {
  const timer = setInterval(() => response.write(everyMs > 0 ? ' ' : ' '.repeat(65_536)), everyMs);
  response.on('close', () => clearInterval(timer));
}
