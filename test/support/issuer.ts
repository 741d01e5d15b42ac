import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWK, SignJWT } from 'jose';

/** Ways in which an issuer fails, to whatever it is asked. */
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
        response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }));
        return;
      }
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

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Through PEM: Node 20 may wait for ever when it collects what made a key while the key itself is exported, which `jose` does. */
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
