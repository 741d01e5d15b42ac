import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { defaultTenant, type Role, roles } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { type Authority, type Certificate, certificateAuthority } from './certificates.ts';
import { type Framehold, type FrameholdOptions, startFramehold } from './framehold.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The files of a server's TLS, and the authorities that sign for it and for its clients. */
export interface TlsFiles {
  readonly folder: string;
  readonly authority: Authority;
  /** PEM of the authority. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly clients: Authority;
  readonly clientCaFile: string;
  /** By their names in the TOML file; without those of clients. */
  readonly settings: Readonly<Record<string, string>>;
}

export const serverNames = { cn: 'localhost', dns: ['localhost'], ip: ['127.0.0.1'] } as const;

/** Certificates of a server at localhost and 127.0.0.1, in the folder. */
export async function makeTlsFiles(folder: string): Promise<TlsFiles> {
  const [authority, clients] = [certificateAuthority(), certificateAuthority('Framehold test clients')];
  const path = (name: string): string => join(folder, name);
  const files = { caFile: path('ca.crt'), certFile: path('tls.crt'), keyFile: path('tls.key') };
  const clientCaFile = path('clients.crt');
  await writeFile(files.caFile, authority.cert);
  await writeFile(clientCaFile, clients.cert);
  await writePair(files, authority.issue(serverNames));
  const settings = { 'tls.cert_file': files.certFile, 'tls.key_file': files.keyFile };
  return { folder, authority, clients, clientCaFile, ...files, settings };
}

/** In the place of the last pair, each file at once. */
export async function writePair(
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
  { cert, key }: Certificate,
): Promise<void> {
  for (const [file, text] of [
    [certFile, cert],
    [keyFile, key],
  ] as const) {
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
}

/** The serial numbers of the certificates that new connections to both listeners see. */
export async function servedSerials({ url, grpcPort }: { url: string; grpcPort: number }): Promise<string[]> {
  const httpPort = Number(new URL(url).port);
  return Promise.all([servedSerial(httpPort, ['http/1.1']), servedSerial(grpcPort, ['h2'])]);
}

function servedSerial(port: number, ALPNProtocols: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

export interface TlsFramehold extends Framehold {
  readonly files: TlsFiles;
  /** A token of each role, of the tenant `default`. */
  readonly tokens: Readonly<Record<Role, string>>;
}

/** The whole server with TLS on both listeners and `auth.enabled`. Client certificates: set `tls.client_auth` and `tls.client_ca_file`. */
export async function startTlsFramehold(
  settings: (files: TlsFiles) => Readonly<Record<string, string>> = () => ({}),
  { toml }: Pick<FrameholdOptions, 'toml'> = {},
): Promise<TlsFramehold> {
  const cleanup = new Cleanup();
  try {
    const { path: dataDir } = cleanup.use(await temporaryDirectory());
    const files = await makeTlsFiles(cleanup.use(await temporaryDirectory()).path);
    const tokens = await makeTokens(join(dataDir, 'cold'));
    const server = cleanup.use(
      await startFramehold({
        dataDir,
        ...(toml !== undefined && { toml }),
        settings: { 'auth.enabled': 'true', ...files.settings, ...settings(files) },
      }),
    );
    return { ...server, files, tokens, [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose]() };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

/** Also before there is a server. */
export async function makeTokens(coldDirectory: string): Promise<Readonly<Record<Role, string>>> {
  const records = await AccessRecords.open(coldDirectory, new DurableFiles());
  const tokens: [Role, string][] = [];
  for (const role of roles) {
    const tenant = role === 'operator' ? undefined : defaultTenant;
    const made = await records.createToken({ name: role, role, tenant, prefix: undefined, expiresAt: undefined });
    tokens.push([role, made.token]);
  }
  return Object.fromEntries(tokens) as Record<Role, string>;
}
