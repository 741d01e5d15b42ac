import { statSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionTokens } from '../../src/auth/session-tokens.ts';
import { defaultTenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import type { Certificate } from '../support/certificates.ts';
import { FlightClient, gather } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { startTlsFramehold, type TlsFiles, type TlsFramehold } from '../support/tls-framehold.ts';

const rules = (pattern: string): string =>
  `[auth.certificates.etl]\ncn = "${pattern}"\ntenant = "default"\nrole = "read"\n`;

const clientAuth = ({ clientCaFile }: TlsFiles) => ({
  'tls.client_auth': 'optional',
  'tls.client_ca_file': clientCaFile,
});

let server: TlsFramehold;
let holder: Certificate;

beforeAll(async () => {
  server = await startTlsFramehold(clientAuth, { toml: rules('etl-*') });
  holder = server.files.clients.issue({ cn: 'etl-7' });
});

afterAll(() => server[Symbol.asyncDispose]());

/** What a Handshake gives to the holder of the certificate. */
async function handshake(headers: Readonly<Record<string, string>> = {}) {
  const [ca, key, cert] = [server.files.authority.cert, holder.key, holder.cert].map((pem) => Buffer.from(pem));
  using flight = new FlightClient(server.grpcAddress.port, {}, credentials.createSsl(ca, key, cert));
  const call = flight.handshake(headers);
  const answer = gather(call);
  call.end();
  const { status, headers: given } = await answer;
  return { status, authorization: String(given.get('authorization')[0] ?? ''), trailers: status.metadata };
}

function whoami({ url }: Framehold, token: string, shown?: Certificate) {
  const tls = { ca: server.files.authority.cert, ...(shown && { cert: shown.cert, key: shown.key }) };
  return ask(`${url}/whoami`, { headers: { authorization: `Bearer ${token}` }, tls });
}

async function sessionToken(): Promise<string> {
  return (await handshake()).authorization.replace('Bearer ', '');
}

/** Another server of the same frames and tokens. */
function startOther(toml: string): Promise<Framehold> {
  const settings = { ...server.files.settings, ...clientAuth(server.files), 'auth.enabled': 'true' };
  return startFramehold({ settings: { ...settings, 'storage.parquet_path': join(server.dataDir, 'cold') }, toml });
}

describe('the Handshake of a caller with a certificate', () => {
  it('gives a token in its headers, and only there, that names the caller until the certificate ends', async () => {
    const { status, authorization, trailers } = await handshake();
    expect(status.code).toBe(0);
    expect(authorization).toMatch(/^Bearer fhs_[\w-]+\.[\w-]{43}$/);
    expect(trailers.get('authorization')).toEqual([]);
    const token = authorization.replace('Bearer ', '');
    for (const shown of [undefined, holder]) {
      const who = (await whoami(server, token, shown)).json();
      expect(who).toMatchObject({ name: 'etl-7', tenant: 'default', role: 'read', credential: 'certificate' });
      expect(Date.parse(String(who.expires)) - Date.now()).toBeLessThan(86_400_000);
    }
    expect(server.log()).not.toContain('fhs_');
  });

  it('gives back a token that the caller has shown', async () => {
    const token = server.tokens.read;
    expect((await handshake({ authorization: `Bearer ${token}` })).authorization).toBe(`Bearer ${token}`);
    const session = await sessionToken();
    expect((await handshake({ authorization: `Bearer ${session}` })).authorization).toBe(`Bearer ${session}`);
  });

  it('gives one that every server of the directory takes', async () => {
    await using other = await startOther(rules('etl-*'));
    expect((await whoami(other, await sessionToken())).status).toBe(200);
  });

  it('gives one that ends with the rule for its certificate', async () => {
    await using other = await startOther(rules('other-*'));
    const answer = await whoami(other, await sessionToken());
    expect([answer.status, answer.json().error]).toEqual([
      401,
      'the session token is of a certificate that no rule names any more',
    ]);
  });
});

describe('a session token', () => {
  it.each([
    [
      'changed in what it names',
      (token: string) => token.replace(/^fhs_(.)/, (_, first) => `fhs_${first === 'A' ? 'B' : 'A'}`),
    ],
    ['with another signature', (token: string) => token.replace(/.{4}$/, 'AAAA')],
    ['without a signature', (token: string) => token.replace(/\..*/, '')],
    ['that is cut', (token: string) => token.slice(0, -5)],
    ['of nothing', () => 'fhs_'],
  ])('%s is refused', async (_, change) => {
    const answer = await whoami(server, change(await sessionToken()));
    expect([answer.status, answer.json().error]).toEqual([401, 'the session token is not of this server']);
  });

  it('has expired with its certificate', async () => {
    const tokens = new SessionTokens(join(server.dataDir, 'cold'), new DurableFiles());
    await sessionToken();
    const claims = {
      tenant: defaultTenant,
      name: 'etl-7',
      role: 'read',
      credential: 'certificate',
      credentialId: 'a',
    } as const;
    const ended = await tokens.issue({ ...claims, expiresAt: Date.now() - 1 });
    expect((await whoami(server, ended)).json().error).toBe('the session token has expired with its certificate');
    const good = await tokens.issue({ ...claims, expiresAt: Date.now() + 60_000 });
    expect((await whoami(server, good)).status).toBe(200);
  });

  it('is signed with a key that only the user of the server may read', async () => {
    await sessionToken();
    const { mode } = statSync(join(server.dataDir, 'cold', '.framehold', 'access', 'session-key.json'));
    expect(mode & 0o777).toBe(0o600);
  });
});
