import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'clients', 'typescript');

export interface InstalledPackage extends AsyncDisposable {
  /** Where npm has installed the package. Nothing else is installed there but what `linked` names. */
  readonly folder: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** The client for TypeScript, packed and installed into an empty folder. `linked`: packages of ours that are there, too. */
export function installedClient(linked: readonly string[] = []): Promise<InstalledPackage> {
  return Cleanup.scope(async (cleanup) => {
    const { path } = cleanup.use(await temporaryDirectory());
    const [packing, folder] = [join(path, 'packing'), join(path, 'app')];
    await mkdir(packing);
    await mkdir(folder);
    // A build of its own: others may run.
    for (const name of ['package.json', 'README.md', 'LICENSE']) await cp(join(source, name), join(packing, name));
    await run(process.execPath, [join(root, 'scripts', 'build-client.mjs'), join(packing, 'dist')]);
    const quietly = ['--ignore-scripts', '--silent'];
    const { stdout } = await run('npm', ['pack', ...quietly, '--pack-destination', path], { cwd: packing });
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
    await run('npm', ['install', ...quietly, '--offline', '--no-audit', '--no-fund', join(path, stdout.trim())], {
      cwd: folder,
    });
    for (const name of linked) {
      await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    const installed = join(folder, 'node_modules', '@framehold', 'client');
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
    return { folder, files: files.sort() };
  });
}
