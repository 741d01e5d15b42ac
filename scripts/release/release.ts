import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { auditFindings } from './audit.ts';
import { billOfMaterials, type CycloneDx } from './bill-of-materials.ts';
import { releasedChangelog } from './changelog.ts';
import { type Component, shippedComponents } from './components.ts';
import { noticeText } from './notice.ts';
import { buildPythonPackage } from './python-package.ts';
import { compareVersions } from './version.ts';
import { versionFiles, withVersion } from './version-files.ts';

export interface ReleaseOptions {
  /** Of the checkout. */
  readonly root: string;
  readonly version: string;
  /** Everything but the commit and the tag; the checkout is as before then. */
  readonly dryRun: boolean;
  readonly skipAudit: boolean;
  readonly consolePackages: readonly string[];
  /** An interpreter that has setuptools. */
  readonly python: string;
  readonly report: (line: string) => void;
}

const branch = 'main';
const clientFolder = 'clients/typescript';
const pythonFolder = 'clients/python';
const changedFiles = [...versionFiles, 'CHANGELOG.md'] as const;

/** Makes the files of a release in `release/<version>`, a commit and a tag. Throws where something forbids it; the checkout is as before then. */
export async function release(options: ReleaseOptions): Promise<void> {
  const { root, version, dryRun, skipAudit, consolePackages, report } = options;
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const tag = `v${version}`;
  const { version: current } = JSON.parse(read('package.json')) as { version: string };
  await checkVersion(root, version, current);
  await checkCheckout(root);
  const components = shippedComponents(root, consolePackages);
  if (read('NOTICE') !== noticeText(components))
    throw new Error('NOTICE is out of date; run node scripts/generate-docs.mjs and commit it');
  const changelog = releasedChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  if (skipAudit) report('left out: npm audit');
  else await audit(options, components);

  const before = changedFiles.map((path) => ({ path, text: read(path) }));
  const restore = (): void => {
    for (const { path, text } of before) writeFileSync(join(root, path), text);
  };
  let isCommitted = false;
  try {
    for (const path of versionFiles) writeFileSync(join(root, path), withVersion(path, read(path), current, version));
    writeFileSync(join(root, 'CHANGELOG.md'), changelog);
    await writeFiles(options, components);
    // Versions and changelog may have been cut by hand.
    if (!dryRun && (await git(root, ['status', '--porcelain'])) !== '') {
      await git(root, ['commit', '--quiet', '--message', `release: ${version}`, '--', ...changedFiles]);
      isCommitted = true;
    }
  } catch (error) {
    restore();
    rmSync(join(root, 'release', version), { recursive: true, force: true });
    throw error;
  }
  if (dryRun) {
    restore();
    report(`dry run: no commit, no tag ${tag}`);
  } else {
    await git(root, ['tag', '--annotate', tag, '--message', `Framehold ${version}`]);
    report(`${isCommitted ? 'committed, and ' : ''}tagged ${tag}; to publish it: git push origin ${branch} ${tag}`);
  }
}

/** The first release has the version that package.json had from the start. */
async function checkVersion(root: string, version: string, current: string): Promise<void> {
  const difference = compareVersions(version, current);
  if ((await git(root, ['tag', '--list', `v${version}`])) !== '')
    throw new Error(`the tag v${version} is there already; choose a higher version`);
  if (difference < 0) throw new Error(`${version} is lower than ${current}, the version of package.json`);
}

async function checkCheckout(root: string): Promise<void> {
  const current = await git(root, ['branch', '--show-current']);
  if (current !== branch) throw new Error(`releases are made on ${branch}, and this is ${current || 'no branch'}`);
  const changes = (await git(root, ['status', '--porcelain'])).split('\n').filter(Boolean);
  if (changes.length > 0)
    throw new Error(
      `the checkout has changes (${changes.map((line) => line.trim()).join(', ')}); commit or remove them`,
    );
}

async function audit({ root, report }: ReleaseOptions, components: readonly Component[]): Promise<void> {
  const names = new Set(components.flatMap(({ name, platformPackages }) => [name, ...platformPackages]));
  const { shipped, tools } = auditFindings(await npm(root, ['audit', '--json'], { mayFail: true }), names);
  if (tools.length > 0) report(`npm audit names packages that only build or test: ${tools.join(', ')}`);
  if (shipped.length > 0) throw new Error(`npm audit names packages that we ship: ${shipped.join(', ')}; update them`);
  report('npm audit: nothing that we ship');
}

/** The package, its bill of materials, the clients for TypeScript and Python, and the checksums of all. */
async function writeFiles(options: ReleaseOptions, components: readonly Component[]): Promise<void> {
  const { root, version, python, report } = options;
  const folder = join(root, 'release', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  report('npm pack …');
  await npm(root, ['pack', '--pack-destination', folder]);
  await npm(join(root, clientFolder), ['pack', '--pack-destination', folder]);
  const pythonFiles = await buildPythonPackage({ python, source: join(root, pythonFolder), folder });
  const sbom = await npm(root, ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']);
  const bill = billOfMaterials(JSON.parse(sbom) as CycloneDx, components);
  const names = [
    `framehold-${version}.tgz`,
    `framehold-${version}.cdx.json`,
    `framehold-client-${version}.tgz`,
    ...pythonFiles,
  ] as const;
  writeFileSync(join(folder, names[1]), `${JSON.stringify(bill, null, 2)}\n`);
  const sums = names.map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  for (const name of names)
    report(`release/${version}/${name}: ${Math.ceil(statSync(join(folder, name)).size / 1000)} kB`);
}

async function git(root: string, args: readonly string[]): Promise<string> {
  return (await output('git', args, { cwd: root })).trim();
}

function npm(root: string, args: readonly string[], { mayFail = false } = {}): Promise<string> {
  // Where npm runs us and took --dry-run for its own, its children would only pretend.
  const { npm_config_dry_run, ...env } = process.env;
  return output('npm', args, { cwd: root, env, mayFail });
}

interface OutputOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Its output counts, with any status. */
  readonly mayFail?: boolean;
}

async function output(command: string, args: readonly string[], options: OutputOptions): Promise<string> {
  const { mayFail = false, ...rest } = options;
  try {
    const more = { shell: process.platform === 'win32', maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(command, args, { ...rest, ...more })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    if (mayFail && stdout !== '') return stdout;
    throw new Error(`${command} ${args[0]} failed: ${stderr.trim() || message}`, { cause: error });
  }
}
