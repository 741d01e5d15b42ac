import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { UsageError } from '../config/usage-error.ts';

export interface TlsSettings {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientAuth: 'off' | 'optional' | 'required';
  readonly clientCaFile: string | undefined;
  readonly crlFile: string | undefined;
  readonly minVersion: '1.2' | '1.3';
}

export interface LoadedTls {
  /** The complete set: `setSecureContext` resets every option that it is not given. */
  readonly context: SecureContextOptions;
  readonly certificate: X509Certificate;
}

/** Reads and checks all files. Throws a UsageError that names the setting and the file. */
export async function loadTlsFiles(settings: TlsSettings): Promise<LoadedTls> {
  const { certFile, keyFile, clientCaFile, crlFile, minVersion } = settings;
  const [cert, key, ca, crl] = await Promise.all([
    read('cert_file', certFile),
    read('key_file', keyFile),
    clientCaFile === undefined ? undefined : read('client_ca_file', clientCaFile),
    crlFile === undefined ? undefined : read('crl_file', crlFile),
  ]);
  const certificate = checkPair(cert, certFile, key, keyFile);
  if (ca !== undefined) parseCertificates('client_ca_file', clientCaFile, ca);
  const context: SecureContextOptions = {
    cert,
    key,
    minVersion: `TLSv${minVersion}`,
    ...(ca !== undefined && { ca }),
    ...(crl !== undefined && { crl: parseLists(crlFile, crl) }),
  };
  tryContext(context, `the files of tls.cert_file (${certFile}) and tls.key_file (${keyFile}) cannot be used`);
  return { context, certificate };
}

async function read(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : (/^\w+: ([^,]+)/.exec(message)?.[1] ?? message);
    throw new UsageError(`tls.${setting} (${path}) cannot be read: ${reason}`);
  }
}

function checkPair(cert: string, certFile: string, key: string, keyFile: string): X509Certificate {
  const [certificate, ...others] = parseCertificates('cert_file', certFile, cert);
  const privateKey = parseKey(key, keyFile);
  if (certificate.checkPrivateKey(privateKey)) return certificate;
  const isBehind = others.some((other) => other.checkPrivateKey(privateKey));
  throw new UsageError(
    isBehind
      ? `tls.cert_file (${certFile}) does not begin with the certificate of the server; put those of authorities behind it`
      : `tls.key_file (${keyFile}) is not the key of the certificate in tls.cert_file (${certFile})`,
  );
}

function parseKey(key: string, path: string) {
  try {
    return createPrivateKey(key);
  } catch {
    const isEncrypted = key.includes('ENCRYPTED');
    throw new UsageError(
      `tls.key_file (${path}) ${isEncrypted ? 'is encrypted; expected one without a passphrase' : 'holds no private key in PEM form'}`,
    );
  }
}

function parseCertificates(
  setting: string,
  path: string | undefined,
  text: string,
): [X509Certificate, ...X509Certificate[]] {
  const blocks = pemBlocks(text, '(?:TRUSTED |X509 )?CERTIFICATE');
  try {
    const [first, ...others] = blocks.map((block) => new X509Certificate(block));
    if (first !== undefined) return [first, ...others];
  } catch {}
  throw new UsageError(
    `tls.${setting} (${path}) holds ${blocks.length === 0 ? 'no certificate in PEM form' : 'a certificate that cannot be read'}`,
  );
}

/** One by one: of a text with several lists Node reads only the first. */
function parseLists(path: string | undefined, text: string): string[] {
  const lists = pemBlocks(text, 'X509 CRL');
  if (lists.length === 0) throw new UsageError(`tls.crl_file (${path}) holds no revocation list in PEM form`);
  tryContext({ crl: lists }, `tls.crl_file (${path}) holds a revocation list that cannot be read`);
  return lists;
}

function pemBlocks(text: string, label: string): string[] {
  return text.match(new RegExp(`-----BEGIN (${label})-----[^-]*-----END \\1-----`, 'g')) ?? [];
}

function tryContext(context: SecureContextOptions, problem: string): void {
  try {
    createSecureContext(context);
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split(':').at(-1)?.trim();
    throw new UsageError(`${problem}: ${reason}`);
  }
}
