import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type SecureVersion } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { noLimits } from '../../src/auth/tenant-record.ts';
import type { Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { type Certificate, certificateAuthority } from '../support/certificates.ts';
import { FlightClient } from '../support/flight-client.ts';
import { ask } from '../support/http-client.ts';
import { startTlsFramehold, type TlsFiles, type TlsFramehold } from '../support/tls-framehold.ts';
import { startUpstream } from '../support/upstream.ts';

function clientAuth(mode: string) {
  return ({ clientCaFile }: TlsFiles) => ({ 'tls.client_auth': mode, 'tls.client_ca_file': clientCaFile });
}

/** What the HTTP listener answers; `cut` where it does not. */
async function overHttp(server: TlsFramehold, shown?: Certificate, token?: string): Promise<number | 'cut'> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const tls = { ca: server.files.authority.cert, ...(shown && { cert: shown.cert, key: shown.key }) };
  try {
    return (await ask(`${server.url}/handles`, { headers, tls })).status;
  } catch {
    return 'cut';
  }
}

/** The name of the status that the gRPC listener gives; `UNAVAILABLE` where it does not answer. */
async function overGrpc(server: TlsFramehold, shown?: Certificate, token?: string): Promise<number> {
  const ca = Buffer.from(server.files.authority.cert);
  const channel = shown
    ? credentials.createSsl(ca, Buffer.from(shown.key), Buffer.from(shown.cert))
    : credentials.createSsl(ca);
  using flight = new FlightClient(server.grpcAddress.port, {}, channel);
  return (await flight.list('', token === undefined ? {} : { authorization: `Bearer ${token}` })).status.code;
}

const [ok, forbidden, unavailable, unauthenticated] = [0, 7, 14, 16];

describe('client certificates', () => {
  const stranger = certificateAuthority('Another authority').issue({ cn: 'ada' });

  it('that are off are not asked for', async () => {
    await using server = await startTlsFramehold();
    const client = server.files.clients.issue({ cn: 'ada' });
    expect(await overHttp(server, client)).toBe(401);
    expect(await overGrpc(server, client)).toBe(unauthenticated);
  });

  it('that are optional let others in by a token, and refuse those of another authority', async () => {
    await using server = await startTlsFramehold(clientAuth('optional'));
    const client = server.files.clients.issue({ cn: 'ada' });
    const { read } = server.tokens;
    expect(await overHttp(server)).toBe(401);
    expect(await overHttp(server, undefined, read)).toBe(200);
    // Verified, but mapped to nobody.
    expect(await overHttp(server, client)).toBe(403);
    expect(await overHttp(server, client, read)).toBe(200);
    expect(await overHttp(server, stranger, read)).toBe('cut');
    expect(await overGrpc(server)).toBe(unauthenticated);
    expect(await overGrpc(server, undefined, read)).toBe(ok);
    expect(await overGrpc(server, client)).toBe(forbidden);
    expect(await overGrpc(server, client, read)).toBe(ok);
    expect(await overGrpc(server, stranger, read)).toBe(unavailable);
  });

  it('that a rule names need no token, on both listeners', async () => {
    const toml = '[auth.certificates.etl]\ncn = "etl-*"\ntenant = "default"\nrole = "read"\n';
    await using server = await startTlsFramehold(clientAuth('optional'), { toml });
    const tls = { ca: server.files.authority.cert };
    const { cert, key } = server.files.clients.issue({ cn: 'etl-7' });
    const who = await ask(`${server.url}/whoami`, { tls: { ...tls, cert, key } });
    expect(who.json()).toMatchObject({ name: 'etl-7', role: 'read', tenant: 'default', credential: 'certificate' });
    expect((await ask(`${server.url}/info`, { tls: { ...tls, cert, key } })).json()).toHaveProperty('version');
    expect(await overGrpc(server, server.files.clients.issue({ cn: 'etl-8' }))).toBe(ok);
    const desk = 'desk' as Tenant;
    using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
    await records.createTenant(desk, noLimits);
    const token = { name: 'x', role: 'read', tenant: desk, prefix: undefined, expiresAt: undefined } as const;
    const other = await records.createToken(token);
    await expect.poll(() => overHttp(server, undefined, other.token)).toBe(200);
    const both = await ask(`${server.url}/whoami`, {
      headers: { authorization: `Bearer ${other.token}` },
      tls: { ...tls, cert, key },
    });
    expect([both.status, both.json().error]).toEqual([
      403,
      'your client certificate and your token are of different tenants',
    ]);
    expect(await overGrpc(server, server.files.clients.issue({ cn: 'ada' }))).toBe(forbidden);
  });

  it('do not let a page of another site send statements to the external database', async () => {
    await using upstream = await startUpstream();
    const toml = '[auth.certificates.etl]\ncn = "etl-*"\ntenant = "default"\nrole = "write"\n';
    const settings = { 'tsdb.http_url': upstream.url };
    await using server = await startTlsFramehold((files) => ({ ...clientAuth('required')(files), ...settings }), {
      toml,
    });
    const { cert, key } = server.files.clients.issue({ cn: 'etl-7' });
    const tls = { ca: server.files.authority.cert, cert, key };
    const send = (site: string) =>
      ask(`${server.url}/exec?fmt=json&query=drop%20table%20t`, { tls, headers: { 'sec-fetch-site': site } });
    for (const site of ['cross-site', 'same-site']) {
      expect((await send(site)).json()).toMatchObject({ code: 'invalid_input' });
    }
    expect(upstream.requests).toHaveLength(0);
    upstream.script(({ write }) => write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
    expect((await send('same-origin')).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
  });

  it('that are required keep out whoever has none', async () => {
    await using server = await startTlsFramehold(clientAuth('required'));
    const client = server.files.clients.issue({ cn: 'ada' });
    const ended = server.files.clients.issue({ cn: 'ada', daysLeft: -1 });
    const { read } = server.tokens;
    for (const shown of [undefined, stranger, ended]) {
      expect(await overHttp(server, shown, read)).toBe('cut');
      expect(await overGrpc(server, shown, read)).toBe(unavailable);
    }
    expect(await overHttp(server, client, read)).toBe(200);
    expect(await overGrpc(server, client, read)).toBe(ok);
  });

  it.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
    'name the caller also in a resumed session, and none names nobody (%s)',
    async (version) => {
      await using server = await startTlsFramehold(clientAuth('optional'));
      const client = server.files.clients.issue({ cn: 'ada' });
      const port = Number(new URL(server.url).port);
      /** The status of a request, and the session to resume. */
      const visit = (shown: Certificate | undefined, session?: Buffer) =>
        new Promise<{ status: string; isReused: boolean; session: Buffer | undefined }>((resolve, reject) => {
          let next: Buffer | undefined;
          let text = '';
          let isReused = false;
          const socket = connect({
            port,
            host: '127.0.0.1',
            ca: server.files.authority.cert,
            maxVersion: version,
            ...(shown && { cert: shown.cert, key: shown.key }),
            ...(session && { session }),
          });
          socket.on('session', (given) => {
            next = given;
          });
          socket.on('data', (piece) => {
            text += piece;
          });
          socket.on('error', reject);
          socket.on('close', () => resolve({ status: text.slice(9, 12), isReused, session: next }));
          socket.on('secureConnect', () => {
            isReused = socket.isSessionReused();
            socket.write('GET /handles HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
          });
        });
      for (const [shown, status] of [
        [undefined, '401'],
        [client, '403'],
      ] as const) {
        const first = await visit(shown);
        expect([first.status, first.isReused]).toEqual([status, false]);
        const second = await visit(shown, first.session);
        expect([second.status, second.isReused]).toEqual([status, true]);
      }
    },
  );

  it('that are revoked are refused as soon as the list says so', async () => {
    await using server = await startTlsFramehold((files) => {
      const crlFile = join(files.folder, 'clients.crl');
      writeFileSync(crlFile, files.clients.revoke([]));
      return { ...clientAuth('required')(files), 'tls.crl_file': crlFile };
    });
    const { files, tokens } = server;
    const [ada, bob] = [files.clients.issue({ cn: 'ada' }), files.clients.issue({ cn: 'bob' })];
    expect(await overHttp(server, ada, tokens.read)).toBe(200);
    expect(await overGrpc(server, ada, tokens.read)).toBe(ok);
    await writeFile(join(files.folder, 'clients.crl'), files.clients.revoke([ada]));
    await expect.poll(() => overHttp(server, ada, tokens.read)).toBe('cut');
    expect(await overGrpc(server, ada, tokens.read)).toBe(unavailable);
    expect(await overHttp(server, bob, tokens.read)).toBe(200);
    expect(await overGrpc(server, bob, tokens.read)).toBe(ok);

    await writeFile(join(files.folder, 'clients.crl'), files.clients.revoke([ada], { daysLeft: -1 }));
    await expect.poll(() => overHttp(server, bob, tokens.read)).toBe('cut');
    await expect.poll(() => server.log()).toContain('past its next update');
  });
});
