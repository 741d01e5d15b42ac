import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSignedCertificate } from './certificates.ts';

export interface SelfSigned {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** Of the certificate. */
  readonly certFile: string;
}

/** A certificate of localhost without an authority, valid for a day. Its files are in the folder. */
export function selfSigned(folder: string): SelfSigned {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const { key, cert } = selfSignedCertificate({ cn: 'localhost', dns: ['localhost'] });
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(certFile, cert);
  return { key: Buffer.from(key), cert: Buffer.from(cert), certFile };
}
