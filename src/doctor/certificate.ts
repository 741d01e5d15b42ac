import { stat } from 'node:fs/promises';
import { UsageError } from '../config/usage-error.ts';
import { lacksTlsFixes } from '../tls/server-tls.ts';
import { loadTlsFiles, type TlsSettings } from '../tls/tls-files.ts';
import { type Finding, notOk, ok } from './finding.ts';

export type CertificateFacts =
  | { readonly state: 'unusable'; readonly problem: string }
  | {
      readonly state: 'usable';
      readonly certFile: string;
      readonly keyFile: string;
      readonly endsMs: number;
      readonly nowMs: number;
      /** Permissions of the key's file: the bits of `ls -l`. */
      readonly keyMode: number;
      readonly nodeVersion: string;
    };

const dayMs = 86_400_000;
const soonDays = 14;
const readableByAll = 0o004;

/** Reads the files as the server does. */
export async function certificateFacts(settings: TlsSettings): Promise<CertificateFacts> {
  const { certFile, keyFile } = settings;
  try {
    const { certificate } = await loadTlsFiles(settings);
    const { mode } = await stat(keyFile);
    const [endsMs, nowMs] = [Date.parse(certificate.validTo), Date.now()];
    return { state: 'usable', certFile, keyFile, endsMs, nowMs, keyMode: mode, nodeVersion: process.versions.node };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { state: 'unusable', problem: error.message };
  }
}

export function judgeCertificate(facts: CertificateFacts): Finding {
  if (facts.state === 'unusable') {
    return notOk('fail', 'tls', facts.problem, 'the server does not start', 'repair the file, or name another');
  }
  const { certFile, keyFile, endsMs, nowMs, keyMode, nodeVersion } = facts;
  const days = Math.floor((endsMs - nowMs) / dayMs);
  const found = `${certFile}, ${endsMs <= nowMs ? `ended on ${dateOf(endsMs)}` : `${days} days left`}`;
  const renew = 'renew it; the server reads changed files by itself';
  if (endsMs <= nowMs) return notOk('fail', 'tls', found, 'clients refuse the certificate', renew);
  if ((keyMode & readableByAll) !== 0) {
    const shown = `${found}; ${keyFile} has mode ${(keyMode & 0o777).toString(8)}`;
    return notOk('warn', 'tls', shown, 'every user of this machine can read the private key', `chmod 600 ${keyFile}`);
  }
  if (days < soonDays) return notOk('warn', 'tls', found, 'clients refuse the certificate when it has ended', renew);
  if (lacksTlsFixes(nodeVersion)) {
    const meaning = `Node.js ${nodeVersion} lacks fixes of TLS: clients may crash the server`;
    return notOk('warn', 'tls', found, meaning, 'use 20.20.2, 22.22.2, 24.14.1 or later');
  }
  return ok('tls', found);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
