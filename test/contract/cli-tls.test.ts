import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../support/certificates.ts';
import { commandsOf } from '../support/command-here.ts';
import { startTlsFramehold, type TlsFramehold, writePair } from '../support/tls-framehold.ts';

let server: TlsFramehold;
let mutual: TlsFramehold;

beforeAll(async () => {
  server = await startTlsFramehold();
  mutual = await startTlsFramehold(({ clientCaFile }) => ({
    'tls.client_auth': 'required',
    'tls.client_ca_file': clientCaFile,
  }));
  const { folder, clients } = mutual.files;
  const names = (name: string) => ({ certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) });
  await writePair(names('me'), clients.issue({ cn: 'me' }));
  await writePair(names('stranger'), certificateAuthority('Another authority').issue({ cn: 'me' }));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mutual[Symbol.asyncDispose]();
});

const run = commandsOf();
/** In the folder of its certificates. */
function framehold(to: TlsFramehold, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return run(argv, {
    cwd: to.files.folder,
    env: { FRAMEHOLD_SERVER: to.url, FRAMEHOLD_TOKEN: to.tokens.write, ...env },
  });
}

describe('a command over https', () => {
  it('reaches both listeners of a server whose authority it is given', async () => {
    const { status, stdout } = await framehold(server, ['ping', '--ca-file=ca.crt']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP {2}https:\/\/127\.0\.0\.1:\d+ answers/);
    expect(stdout).toMatch(/gRPC {2}grpc\+tls:\/\/127\.0\.0\.1:\d+ answers/);
  });

  it('puts and gets over Flight, with the files named in the environment or the config file', async () => {
    await writeFile(join(server.files.folder, 'weather.csv'), 'city,c\nRome,20\nOslo,3\n');
    const env = { FRAMEHOLD_CA_FILE: 'ca.crt' };
    expect(await framehold(server, ['put', 'weather.csv'], env)).toMatchObject({ status: 0 });
    await writeFile(join(server.files.folder, 'client.toml'), '[client]\nca_file = "ca.crt"\n');
    const got = await framehold(server, [
      'get',
      'weather',
      '--format=arrow',
      '-o',
      'weather.arrow',
      '--config=client.toml',
    ]);
    expect(got).toMatchObject({ status: 0 });
    expect(await framehold(server, ['put', 'weather.arrow', '--handle=again'], env)).toMatchObject({ status: 0 });
    expect((await framehold(server, ['sql', 'select count(*) as n from again'], env)).stdout).toBe('n\r\n2\r\n');
  });

  it('says that the authority is not known, and how to name it', async () => {
    const { status, stdout, stderr } = await framehold(server, ['ls']);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `framehold: the certificate of ${server.url} is not signed by an authority that is trusted here (give its authority with --ca-file or client.ca_file)\n`,
    );
  });

  it('says that the certificate is of another host, and of which', async () => {
    await using own = await startTlsFramehold(() => ({ 'http.bind_address': '127.0.0.2:0' }));
    const to = own.url.replace('127.0.0.1', '127.0.0.2');
    const { status, stderr } = await framehold(own, ['ls', `--server=${to}`, '--ca-file=ca.crt']);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `the certificate of ${to} is of another host (it has DNS:localhost, IP Address:127.0.0.1)`,
    );
  });

  it('verifies the gRPC listener as the host that it was given', async () => {
    const url = server.url.replace('127.0.0.1', 'localhost');
    const { status, stdout } = await framehold(server, ['ping', `--server=${url}`, '--ca-file=ca.crt']);
    expect(status).toBe(0);
    expect(stdout).toContain('grpc+tls://127.0.0.1:');
  });

  it('is told to use https where it did not', async () => {
    const url = server.url.replace('https:', 'http:');
    const { status, stderr } = await framehold(server, ['ls', `--server=${url}`]);
    expect([status, stderr]).toEqual([1, 'framehold: this port speaks TLS (use https)\n']);
  });

  it.each([
    [['--ca-file=none'], 'there is no file'],
    [['--ca-file=tls.key'], 'client.ca_file holds no certificate in PEM form'],
    [['--cert-file=tls.crt'], 'client.cert_file is set without client.key_file'],
    [['--cert-file=tls.crt', '--key-file=ca.crt'], 'are not a certificate and its key'],
  ])('refuses files that cannot be used: %j', async (flags, message) => {
    const { status, stdout, stderr } = await framehold(server, ['ls', ...flags]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('a command to a server that requires client certificates', () => {
  it('shows its own, on both listeners', async () => {
    const flags = ['--ca-file=ca.crt', '--cert-file=me.crt', '--key-file=me.key'];
    expect(await framehold(mutual, ['ping', ...flags])).toMatchObject({ status: 0, stderr: '' });
  });

  it('says that one is asked for', async () => {
    const { status, stderr } = await framehold(mutual, ['ls', '--ca-file=ca.crt']);
    expect(status).toBe(1);
    expect(stderr).toContain(`${mutual.url} asks for a client certificate (give yours with --cert-file and --key-file`);
  });

  it('says that one which is not trusted may be the reason', async () => {
    const flags = ['--ca-file=ca.crt', '--cert-file=stranger.crt', '--key-file=stranger.key'];
    const { status, stderr } = await framehold(mutual, ['ls', ...flags]);
    expect(status).toBe(1);
    expect(stderr).toContain('the server may not trust the certificate of --cert-file');
  });
});
