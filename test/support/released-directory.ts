import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

const folder = fileURLToPath(new URL('../fixtures/data-directories/', import.meta.url));

/** The notes of scripts/make-data-directory.mjs about a data directory that it made. */
export interface ReleasedLedger {
  readonly version: string;
  /** `rows`: as CSV. */
  readonly frames: readonly { readonly tenant: string; readonly handle: string; readonly rows: string }[];
  readonly dropped: readonly string[];
  /** The last append that its producer made. */
  readonly producer: Readonly<Record<string, string>> & { readonly handle: string };
  readonly tokens: Readonly<Record<'operator' | 'writer', readonly string[]>>;
  readonly limits: { readonly tenant: string; readonly maxFrames: number; readonly maxBytes: number };
  readonly share: { readonly tenant: string; readonly handle: string; readonly with: string };
}

export interface ReleasedDirectory extends TemporaryDirectory {
  readonly dataDir: string;
  readonly cold: string;
  readonly ledger: ReleasedLedger;
  tokenOf(name: keyof ReleasedLedger['tokens']): string;
}

/** Versions that there is a data directory of. */
export const releasedVersions: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.tar.gz'))
  .map((name) => name.slice(0, -'.tar.gz'.length));

/** The data directory of a released version, as if it had been left on this very disk. */
export async function releasedDirectory(version: string): Promise<ReleasedDirectory> {
  const directory = await temporaryDirectory();
  const { path } = directory;
  execFileSync('tar', ['-xzf', join(folder, `${version}.tar.gz`), '-C', path]);
  const dataDir = join(path, 'data');
  const cold = join(dataDir, 'cold');
  const ledger = JSON.parse(readFileSync(join(path, 'ledger.json'), 'utf8')) as ReleasedLedger;
  for (const { tenant } of ledger.frames) noteInodes(tenant === 'default' ? cold : join(cold, 'tenants', tenant));
  return {
    ...directory,
    dataDir,
    cold,
    ledger,
    tokenOf: (name) => ledger.tokens[name].join(''),
  };
}

/** A copy has other inodes than the files that its manifests name. */
function noteInodes(root: string): void {
  const manifests = join(root, '.framehold', 'manifests');
  for (const name of readdirSync(manifests)) {
    const path = join(manifests, name);
    const [line = ''] = readFileSync(path, 'utf8').split('\n');
    const manifest = JSON.parse(line) as { parts: { file: string; ino: string; mtimeNs: string }[] };
    for (const part of manifest.parts) {
      const { ino, mtimeNs } = statSync(join(root, part.file), { bigint: true });
      Object.assign(part, { ino: String(ino), mtimeNs: String(mtimeNs) });
    }
    const json = JSON.stringify(manifest);
    writeFileSync(path, `${json}\n${createHash('sha256').update(json).digest('hex')}\n`);
  }
}
