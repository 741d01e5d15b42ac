import { createHash } from 'node:crypto';
import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { noLimits } from '../../src/auth/tenant-record.ts';
import type { Cleanup } from '../../src/core/async/cleanup.ts';
import { defaultTenant, type Role, type Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { certificateAuthority } from '../../test/support/certificates.ts';
import { TestIssuer } from '../../test/support/issuer.ts';

/** By its environment name, without the prefix. */
export const authEnabled = { AUTH_ENABLED: 'true' } as const;

/** Values of `Authorization` with new tokens for the frames of a data directory. */
export async function makeTokens(dataDir: string, { count = 1, role = 'read' as Role } = {}): Promise<string[]> {
  const records = await openRecords(dataDir);
  const tenant = role === 'operator' ? undefined : defaultTenant;
  const made: string[] = [];
  while (made.length < count) {
    const name = `bench-${made.length}`;
    const { token } = await records.createToken({ name, role, tenant, prefix: undefined, expiresAt: undefined });
    made.push(`Bearer ${token}`);
  }
  return made;
}

/** Adds this many of each. One is made, the others are copies under names of their own: making each durable would take minutes. */
export async function fillAccess(dataDir: string, count: { readonly tokens: number; readonly tenants: number }) {
  const records = await openRecords(dataDir);
  await makeTokens(dataDir);
  await records.createTenant('tenant-0' as Tenant, noLimits);
  const names = {
    tokens: (at: number): string => createHash('sha256').update(String(at)).digest('hex'),
    tenants: (at: number): string => `tenant-${at}`,
  };
  for (const kind of ['tokens', 'tenants'] as const) {
    const folder = join(dataDir, 'cold', '.framehold', 'access', kind);
    const [first = ''] = await readdir(folder);
    for (let at = 1; at < count[kind]; at++) {
      await copyFile(join(folder, first), join(folder, `${names[kind](at)}.json`));
    }
  }
}

function openRecords(dataDir: string): Promise<AccessRecords> {
  return AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
}

export interface BenchIssuer {
  /** Of a server that takes its JWTs. */
  readonly settings: Readonly<Record<string, string>>;
  /** Values of `Authorization`, each with a JWT of another subject. */
  makeJwts(count?: number): Promise<string[]>;
}

/** An issuer in this process. It is asked for its keys, once. */
export async function startIssuer(cleanup: Cleanup): Promise<BenchIssuer> {
  const issuer = await TestIssuer.start();
  cleanup.defer(async () => issuer.stop());
  const table = {
    ISSUER: issuer.url,
    AUDIENCE: 'framehold',
    TENANT: defaultTenant,
    ROLES: 'quants=read',
    ROLE_CLAIM: 'groups',
  };
  const settings = Object.fromEntries(
    Object.entries(table).map(([key, value]) => [`AUTH_ISSUERS_BENCH_${key}`, value]),
  );
  return {
    settings: { ...authEnabled, ...settings },
    async makeJwts(count = 1) {
      const subjects = Array.from({ length: count }, (_, at) => `subject-${at}`);
      return Promise.all(subjects.map(async (sub) => `Bearer ${await issuer.sign({ sub, groups: ['quants'] })}`));
    },
  };
}

/** The same for every contender. */
export interface TlsPair {
  /** As PEM. */
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** By their environment names, without the prefix. */
  readonly settings: Readonly<Record<string, string>>;
}

export async function makeTlsPair(folder: string): Promise<TlsPair> {
  const authority = certificateAuthority();
  const { cert, key } = authority.issue({ cn: 'localhost', ip: ['127.0.0.1'] });
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return { ca: authority.cert, certFile, keyFile, settings: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } };
}
