import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { defaultTenant } from '../../../src/core/callers/principal.ts';
import { certificateAuthority } from '../../support/certificates.ts';
import { TestIssuer } from '../../support/issuer.ts';
import { openRecords } from '../../support/tenants.ts';
import { startTlsFramehold, type TlsFramehold } from '../../support/tls-framehold.ts';

export interface SecureServer extends TlsFramehold {
  /**
   * What its clients have: `ca.crt`, `token` (of the role write), `read-token`, `revoked-token`, `jwt`, `client.crt` and `client.key`,
   * which need no token, and `stranger.crt` and `stranger.key`, which another authority has signed.
   */
  readonly folder: string;
}

/** A server with TLS, tokens, an issuer of JWTs, and client certificates for those who have one. */
export async function startSecureServer(settings: Readonly<Record<string, string>> = {}): Promise<SecureServer> {
  return Cleanup.scope(async (cleanup) => {
    const issuer = await TestIssuer.start();
    cleanup.defer(() => issuer.stop());
    const toml = `[auth.issuers.corp]
issuer = "${issuer.url}"
audience = "framehold"
tenant = "default"
role_claim = "groups"
roles = { quants = "write" }
[auth.certificates.etl]
cn = "etl-*"
tenant = "default"
role = "write"
`;
    const server = cleanup.use(
      await startTlsFramehold(
        ({ clientCaFile }) => ({
          'tls.client_auth': 'optional',
          'tls.client_ca_file': clientCaFile,
          // Each is told why it is refused.
          'auth.max_failed_logins': '1000',
          ...settings,
        }),
        { toml },
      ),
    );
    const { folder, clients } = server.files;
    const client = clients.issue({ cn: 'etl-7' });
    const stranger = certificateAuthority('Another authority').issue({ cn: 'etl-7' });
    const contents = {
      // With the line end that `framehold token create > token` leaves.
      token: `${server.tokens.write}\n`,
      'read-token': `${server.tokens.read}\n`,
      'revoked-token': `${await revokedToken(server)}\n`,
      jwt: `${await issuer.sign()}\n`,
      'client.crt': client.cert,
      'client.key': client.key,
      'stranger.crt': stranger.cert,
      'stranger.key': stranger.key,
    };
    for (const [name, text] of Object.entries(contents)) await writeFile(join(folder, name), text, { mode: 0o600 });
    return { ...server, folder };
  });
}

async function revokedToken(server: TlsFramehold): Promise<string> {
  using records = await openRecords(server);
  const rights = { role: 'write', tenant: defaultTenant, prefix: undefined, expiresAt: undefined } as const;
  const { token, record } = await records.createToken({ name: 'gone', ...rights });
  await records.revokeToken(record.id);
  return token;
}
