import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';

/** Places of the system's trusted certificates. */
const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Node knows only its own list; those of an office's own authority are in the system's, or in the file that Node's variable
 * names, which Node reads only if it gets no list.
 */
export async function trustedCertificates(extraFile: string | undefined): Promise<string[]> {
  const extra = extraFile === undefined ? [] : await firstOf([extraFile]);
  return [...rootCertificates, ...(await firstOf(bundles)), ...extra];
}

/** The text of the first file that can be read. */
async function firstOf(paths: readonly string[]): Promise<string[]> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) return [text];
  }
  return [];
}
