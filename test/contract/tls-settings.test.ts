import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacksTlsFixes } from '../../src/tls/server-tls.ts';
import { startFramehold } from '../support/framehold.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { runCommand } from '../support/spawned-command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { makeTlsFiles, startTlsFramehold, type TlsFiles } from '../support/tls-framehold.ts';

let folder: TemporaryDirectory;
let files: TlsFiles;

beforeAll(async () => {
  folder = await temporaryDirectory();
  files = await makeTlsFiles(folder.path);
  await writeFile(join(folder.path, 'text'), 'nothing of the kind');
  const other = files.authority.issue({ cn: 'other' });
  await writeFile(join(folder.path, 'other.key'), other.key);
  await writeFile(join(folder.path, 'reversed.crt'), files.authority.cert + other.cert);
  await mkdir(join(folder.path, 'folder'));
});

afterAll(() => folder[Symbol.asyncDispose]());

const pair = ['--tls-cert-file=tls.crt', '--tls-key-file=tls.key'];

describe('a start is refused in one line, with exit code 2,', () => {
  it.each([
    [
      'a key without its certificate',
      ['--tls-key-file=tls.key'],
      'tls.key_file is set (by --tls-key-file) without tls.cert_file',
    ],
    [
      'a certificate without its key',
      ['--tls-cert-file=tls.crt'],
      'tls.cert_file is set (by --tls-cert-file) without tls.key_file',
    ],
    [
      'a version without TLS',
      ['--tls-min-version=1.3'],
      'tls.min_version is set (by --tls-min-version) without tls.cert_file',
    ],
    ['a version that is too old', [...pair, '--tls-min-version=1.1'], 'tls.min_version is "1.1"'],
    [
      'client certificates without TLS',
      ['--tls-client-auth=required', '--tls-client-ca-file=clients.crt'],
      'without tls.cert_file',
    ],
    ['client certificates without an authority', [...pair, '--tls-client-auth=optional'], 'without tls.client_ca_file'],
    ['an authority that nobody asks', [...pair, '--tls-client-ca-file=clients.crt'], 'but tls.client_auth is off'],
    [
      'a revocation list without an authority',
      [...pair, '--tls-crl-file=text'],
      'tls.crl_file is set (by --tls-crl-file) without tls.client_ca_file',
    ],
    [
      'a certificate that is not there',
      ['--tls-cert-file=none', '--tls-key-file=tls.key'],
      'none) cannot be read: there is no such file',
    ],
    [
      'a key that is a folder',
      ['--tls-cert-file=tls.crt', '--tls-key-file=folder'],
      'folder) cannot be read: illegal operation on a directory',
    ],
    [
      'a certificate that is none',
      ['--tls-cert-file=text', '--tls-key-file=tls.key'],
      'text) holds no certificate in PEM form',
    ],
    [
      'a key that is none',
      ['--tls-cert-file=tls.crt', '--tls-key-file=text'],
      'text) holds no private key in PEM form',
    ],
    [
      'the key of another certificate',
      ['--tls-cert-file=tls.crt', '--tls-key-file=other.key'],
      'is not the key of the certificate in tls.cert_file',
    ],
    [
      'an authority before the certificate',
      ['--tls-cert-file=reversed.crt', '--tls-key-file=other.key'],
      'reversed.crt) does not begin with the certificate of the server',
    ],
    [
      'an authority that is none',
      [...pair, '--tls-client-auth=required', '--tls-client-ca-file=text'],
      'tls.client_ca_file (',
      'holds no certificate',
    ],
    [
      'a revocation list that is none',
      [...pair, '--tls-client-auth=required', '--tls-client-ca-file=clients.crt', '--tls-crl-file=text'],
      'holds no revocation list in PEM form',
    ],
  ])('for %s', async (_, flags, ...told) => {
    const { status, stdout, stderr } = await runCommand(
      ['server', '--data-dir=data', '--http-bind-address=127.0.0.1:0', '--grpc-port=0', ...flags],
      { cwd: folder.path },
    );
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr.split('\n').filter((line) => line !== '')).toHaveLength(1);
    for (const text of told) expect(stderr).toContain(text);
  });
});

it('versions of Node that lack fixes of TLS are known', () => {
  const lacking = ['20.19.0', '20.20.1', '21.7.3', '22.22.1', '23.11.0', '24.13.9', '24.14.0'];
  expect(lacking.filter(lacksTlsFixes)).toEqual(lacking);
  expect(['20.20.2', '20.21.0', '22.22.2', '24.14.1', '24.15.0', '25.1.0', '26.0.0'].filter(lacksTlsFixes)).toEqual([]);
});

describe('server.health_address', () => {
  it('answers /ping without TLS, certificate or token, and nothing else', async () => {
    const port = await freePort();
    await using _server = await startTlsFramehold(({ clientCaFile }) => ({
      'tls.client_auth': 'required',
      'tls.client_ca_file': clientCaFile,
      'server.health_address': `127.0.0.1:${port}`,
    }));
    const url = `http://127.0.0.1:${port}`;
    expect((await ask(`${url}/ping`)).text).toBe('ok');
    expect((await ask(`${url}/ping`, { method: 'HEAD' })).status).toBe(200);
    for (const path of ['/', '/handles', '/info', '/exec?handle=trades&fmt=json', '/openapi.json', '/whoami']) {
      expect((await ask(`${url}${path}`)).status, path).toBe(404);
    }
  });

  it('that is taken is named with its setting', async () => {
    await using other = await startFramehold();
    const address = new URL(other.url).host;
    const flags = ['--data-dir=data', '--http-bind-address=127.0.0.1:0', '--grpc-host=127.0.0.1', '--grpc-port=0'];
    const { status, stderr } = await runCommand(['server', ...flags, `--health-address=${address}`], {
      cwd: folder.path,
    });
    expect(status).toBe(1);
    expect(stderr).toContain(
      `the health address ${address} is taken by another program; choose another with --health-address`,
    );
  });
});
