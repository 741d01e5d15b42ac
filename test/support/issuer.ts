import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWK, SignJWT } from 'jose';

/** A real issuer: discovery and keys over HTTP. */
export class TestIssuer {
  readonly #server: Server;
  #keys = new Map<string, KeyObject>();
  fetches = 0;
  isDown = false;
  claimedIssuer: string | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer();
    const issuer = new TestIssuer(server);
    server.on('request', async (request, response) => {
      if (issuer.isDown) return void response.writeHead(503).end();
      if (request.url === '/.well-known/openid-configuration') {
        response.end(JSON.stringify({ issuer: issuer.claimedIssuer ?? issuer.url, jwks_uri: `${issuer.url}/keys` }));
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
