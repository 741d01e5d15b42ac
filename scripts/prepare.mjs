import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { npm, runQuietly } from './npm.mjs';

export const root = fileURLToPath(new URL('../', import.meta.url));

const stampPath = `${root}node_modules/.framehold-stamp`;

/** Installs the packages of package-lock.json, unless they are installed. */
export function install() {
  const wanted = stamp();
  if (installedStamp() === wanted) return true;
  console.log('installing dependencies …');
  if (!npm(['ci', '--no-audit', '--no-fund'], { cwd: root })) return false;
  writeFileSync(stampPath, wanted);
  return true;
}

/** Bundles `src` to `dist`, without a look at types. */
export function build() {
  console.log('building …');
  return runQuietly(process.execPath, [`${root}scripts/build.mjs`]);
}

function stamp() {
  const [major] = process.versions.node.split('.');
  const hash = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
  return `${hash} node${major} ${process.platform}-${process.arch}\n`;
}

function installedStamp() {
  try {
    return readFileSync(stampPath, 'utf8');
  } catch {
    return undefined;
  }
}
