import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { billOfMaterials, type CycloneDx } from '../../scripts/release/bill-of-materials.ts';
import { shippedComponents } from '../../scripts/release/components.ts';
import { noticeText } from '../../scripts/release/notice.ts';
import { type ReleaseOptions, release } from '../../scripts/release/release.ts';
import { versionFiles } from '../../scripts/release/version-files.ts';
import { interpreter, packageTools } from '../clients/support/python-package.ts';
import { needed } from '../support/missing.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { consolePackages } = (await import(new URL('../../scripts/build-console.mjs', import.meta.url).href)) as {
  consolePackages(root: string): Promise<readonly string[]>;
};

const tools = await needed('a release', packageTools);
const python = interpreter(tools ?? '');

afterEach(() => {
  vi.unstubAllEnvs();
});

interface Checkout extends TemporaryDirectory {
  git(...args: string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
}

/** Of a program with one dependency, which is at 0.1.0 and has something to release. */
async function checkout(): Promise<Checkout> {
  const directory = await temporaryDirectory();
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: directory.path, encoding: 'utf8' }).trim();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  };
  const read = (path: string): string => readFileSync(join(directory.path, path), 'utf8');
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const own = { name: 'framehold', version: '0.1.0', license: 'Apache-2.0', dependencies: { undici: '7.0.0' } };
  const undici = { version: '7.0.0', license: 'MIT', engines: { node: '>=20' } };
  const packages = { '': own, 'node_modules/undici': undici };
  write('package.json', json({ ...own, files: ['NOTICE'] }));
  write(
    'package-lock.json',
    json({ name: 'framehold', version: '0.1.0', lockfileVersion: 3, requires: true, packages }),
  );
  write('clients/typescript/package.json', json({ name: '@framehold/client', version: '0.1.0' }));
  write('clients/python/pyproject.toml', '[project]\nname = "framehold"\nversion = "0.1.0"\n');
  for (const name of ['README.md', 'LICENSE', 'src/framehold/__init__.py']) write(`clients/python/${name}`, '');
  write('node_modules/undici/package.json', json({ name: 'undici', ...undici }));
  write('node_modules/undici/LICENSE', 'MIT License\n');
  write('NOTICE', noticeText(shippedComponents(directory.path, [])));
  for (const path of versionFiles.filter((each) => /^(deploy|docs)/.test(each)))
    write(path, 'image: framehold:0.1.0\n');
  write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n');
  write('.gitignore', 'node_modules/\n/release/\n');
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Ada');
  for (const name of ['commit.gpgsign', 'tag.gpgsign']) git('config', name, 'false');
  git('config', 'user.email', 'ada@example.com');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all of it');
  return { ...directory, git, write, read };
}

/** Gives what it reports. */
async function releaseOf({ path }: Checkout, options: Partial<ReleaseOptions> = {}): Promise<string> {
  const lines: string[] = [];
  const report = (line: string): void => void lines.push(line);
  const defaults = {
    root: path,
    version: '0.2.0',
    dryRun: false,
    skipAudit: true,
    consolePackages: [],
    python,
    report,
  };
  await release({ ...defaults, ...options });
  return lines.join('\n');
}

/** A registry of undici that knows of these advisories, or refuses to tell. */
async function registry(
  advisories: Readonly<Record<string, readonly unknown[]>> | undefined,
): Promise<AsyncDisposable> {
  const undici = { name: 'undici', versions: { '7.0.0': { name: 'undici', version: '7.0.0' } } };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST' && advisories === undefined) response.writeHead(405);
      response.end(JSON.stringify(request.method === 'POST' ? (advisories ?? {}) : undici));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.skipIf(tools === undefined)(
  'a release sets the version, dates the changelog, makes the packages with their checksums, commits and tags',
  async () => {
    await using here = await checkout();
    await using _audits = await registry({});
    expect(await releaseOf(here, { skipAudit: false })).toMatch(
      /^npm audit: nothing that we ship\n[\s\S]*\ncommitted, and tagged v0\.2\.0; to publish it: git push origin main v0\.2\.0$/,
    );
    expect(JSON.parse(here.read('package.json')).version).toBe('0.2.0');
    expect(JSON.parse(here.read('clients/typescript/package.json')).version).toBe('0.2.0');
    expect(here.read('clients/python/pyproject.toml')).toContain('\nversion = "0.2.0"\n');
    const lock = JSON.parse(here.read('package-lock.json'));
    expect([lock.version, lock.packages[''].version, lock.packages['node_modules/undici'].version]).toEqual([
      ...['0.2.0', '0.2.0', '7.0.0'],
    ]);
    expect(here.read('CHANGELOG.md')).toMatch(/## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n/);
    expect(here.git('log', '-1', '--format=%s')).toBe('release: 0.2.0');
    expect(here.git('show', '--name-only', '--format=', 'v0.2.0^{commit}').split('\n').sort()).toEqual(
      ['CHANGELOG.md', ...versionFiles].sort(),
    );
    expect(here.read('deploy/compose.yaml')).toBe('image: framehold:0.2.0\n');
    expect(here.git('status', '--porcelain')).toBe('');

    const sums = here.read('release/0.2.0/SHA256SUMS').trimEnd().split('\n');
    const names = sums.map((line) => line.slice(66));
    expect(names).toEqual([
      ...['framehold-0.2.0.tgz', 'framehold-0.2.0.cdx.json', 'framehold-client-0.2.0.tgz'],
      ...['framehold-0.2.0-py3-none-any.whl', 'framehold-0.2.0.tar.gz'],
    ]);
    for (const [at, name] of names.entries()) {
      const bytes = readFileSync(join(here.path, 'release/0.2.0', name));
      expect(sums[at]?.slice(0, 64)).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  },
);

test.skipIf(tools === undefined)(
  'a version that was cut by hand is built and tagged, without one more commit',
  async () => {
    await using here = await checkout();
    here.write(
      'CHANGELOG.md',
      '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-19\n\n### Added\n\n- A thing.\n',
    );
    here.git('commit', '--quiet', '--all', '--message', 'release: 0.1.0');
    const head = here.git('rev-parse', 'HEAD');
    expect(await releaseOf(here, { version: '0.1.0' })).toMatch(/\ntagged v0\.1\.0; to publish it/);
    expect([here.git('status', '--porcelain'), here.git('rev-parse', 'v0.1.0^{commit}')]).toEqual(['', head]);
  },
);

test.skipIf(tools === undefined)('a dry run makes the files, and leaves the checkout as it was', async () => {
  await using here = await checkout();
  const head = here.git('rev-parse', 'HEAD');
  // npm sets this where the flag stands before `--`.
  vi.stubEnv('npm_config_dry_run', 'true');
  expect(await releaseOf(here, { version: '0.1.0', dryRun: true })).toMatch(/dry run: no commit, no tag v0\.1\.0$/);
  expect(readdirSync(join(here.path, 'release/0.1.0')).sort()).toEqual([
    ...['SHA256SUMS', 'framehold-0.1.0-py3-none-any.whl', 'framehold-0.1.0.cdx.json', 'framehold-0.1.0.tar.gz'],
    ...['framehold-0.1.0.tgz', 'framehold-client-0.1.0.tgz'],
  ]);
  expect([here.git('status', '--porcelain'), here.git('tag'), here.git('rev-parse', 'HEAD')]).toEqual(['', '', head]);
});

test('a release is refused, and nothing is changed, where the checkout is not ready for it', async () => {
  await using here = await checkout();
  const refused = async (why: string, options?: Partial<ReleaseOptions>): Promise<void> => {
    const before = here.git('status', '--porcelain');
    await expect(releaseOf(here, options)).rejects.toThrow(why);
    expect(here.git('status', '--porcelain')).toBe(before);
  };
  await refused('"0.2" is no version; write one such as 0.2.0 or 0.2.0-rc.1', { version: '0.2' });
  await refused('0.0.9 is lower than 0.1.0, the version of package.json', { version: '0.0.9' });
  here.git('tag', 'v0.2.0');
  await refused('the tag v0.2.0 is there already; choose a higher version');
  here.git('tag', '--delete', 'v0.2.0');
  here.git('switch', '--quiet', '--create', 'side');
  await refused('releases are made on main, and this is side');
  here.git('switch', '--quiet', 'main');
  here.write('new.txt', 'unknown to git');
  await refused('the checkout has changes (?? new.txt); commit or remove them');
  here.git('add', '.');
  here.write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n');
  here.git('commit', '--quiet', '--all', '--message', 'nothing to release');
  await refused('[Unreleased] of CHANGELOG.md has no entry; write what the release changes');
  here.write('NOTICE', 'nobody\n');
  here.git('commit', '--quiet', '--all', '--message', 'a wrong notice');
  await refused('NOTICE is out of date; run node scripts/generate-docs.mjs and commit it');
});

test('a release whose package cannot be made takes its changes back', async () => {
  await using here = await checkout();
  const own = JSON.parse(here.read('package.json'));
  here.write(
    'package.json',
    `${JSON.stringify({ ...own, scripts: { prepack: 'echo no compiler >&2; exit 3' } }, null, 2)}\n`,
  );
  here.git('commit', '--quiet', '--all', '--message', 'a build that fails');
  await expect(releaseOf(here)).rejects.toThrow(/npm pack failed: [\s\S]*no compiler/);
  expect([here.git('status', '--porcelain'), here.git('tag')]).toEqual(['', '']);
});

test('a release is refused where npm audit names a package that is shipped, or gives no report', async () => {
  await using here = await checkout();
  const advisory = {
    id: 1,
    url: 'https://example.com/1',
    title: 'bad',
    severity: 'high',
    vulnerable_versions: '<7.1.0',
  };
  {
    await using _audits = await registry({ undici: [advisory] });
    const why = 'npm audit names packages that we ship: undici (high); update them';
    await expect(releaseOf(here, { skipAudit: false })).rejects.toThrow(why);
  }
  await using _refuses = await registry(undefined);
  await expect(releaseOf(here, { skipAudit: false })).rejects.toThrow(
    /the registry does not audit \(405 .*\); release where it does, or pass --skip-audit after an audit elsewhere/,
  );
  expect(here.git('status', '--porcelain')).toBe('');
});

test('the packages of the clients have the version of the server', () => {
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(text('package.json')) as { version: string };
  expect(JSON.parse(text('clients/typescript/package.json'))).toMatchObject({ version });
  expect(text('clients/python/pyproject.toml')).toContain(`\nversion = "${version}"\n`);
});

test('NOTICE names everything that is shipped, and every licence lets us ship it (else: node scripts/generate-docs.mjs)', async () => {
  const components = shippedComponents(root, await consolePackages(root));
  expect(readFileSync(join(root, 'NOTICE'), 'utf8')).toBe(noticeText(components));
  const allowed = ['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
  expect(components.filter(({ licence }) => !allowed.includes(licence))).toEqual([]);
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), 'preact', 'uplot', '@codemirror/view']));
});

test('the bill of materials has what is shipped, with its licences and hashes, and no tool', async () => {
  const components = shippedComponents(root, await consolePackages(root));
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const bill = billOfMaterials(JSON.parse(stdout) as CycloneDx, components);
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'framehold' } } });
  const listed = bill.components.map(({ name }) => name);
  const shipped = components.flatMap(({ name, platformPackages }) => [name, ...platformPackages]);
  expect(listed.sort()).toEqual(shipped.sort());
  expect(bill.components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
  expect(bill.components.find(({ name }) => name === 'preact')).toMatchObject({
    scope: 'required',
    properties: [],
    hashes: [{ alg: 'SHA-512' }],
  });
  const refs = new Set(bill.components.map((component) => component['bom-ref']));
  const dangling = bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref));
  expect(dangling).toEqual([]);
});

test('the command says how it is used', async () => {
  const script = join(root, 'scripts', 'release.mjs');
  await expect(promisify(execFile)(process.execPath, [script])).rejects.toThrow(
    'release: one version is needed; usage: npm run release -- VERSION [--dry-run] [--skip-audit]',
  );
});
