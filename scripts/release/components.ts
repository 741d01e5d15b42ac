import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The work of others that a user of the package has. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly licenceText: string;
  /** Of packages with binaries, of which npm installs those of the machine. */
  readonly platformPackages: readonly string[];
  /** In the files of the console, and not in a package of its own. */
  readonly inConsole: boolean;
}

interface LockPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The run-time dependencies of the lock file, and the packages that the console is bundled from. Their licence texts are those
 * of the installed packages. The packages of a platform are a part of the one that asks for them.
 */
export function shippedComponents(root: string, consolePackages: readonly string[]): readonly Component[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockPackage>;
  };
  const prefix = 'node_modules/';
  const entries = Object.entries(lock.packages).filter(([path]) => path.startsWith(prefix));
  const runTime = entries.filter(([, { dev }]) => dev !== true);
  const platformPackages = new Set(runTime.flatMap(([, found]) => Object.keys(found.optionalDependencies ?? {})));
  const component = ([path, found]: [string, LockPackage], inConsole: boolean): Component => {
    const name = path.slice(path.lastIndexOf(prefix) + prefix.length);
    if (found.license === undefined) throw new Error(`package-lock.json does not name the licence of ${name}`);
    const folder = join(root, path);
    checkInstalled(folder, found.version);
    return {
      name,
      version: found.version,
      licence: found.license,
      licenceText: licenceText(folder),
      platformPackages: Object.keys(found.optionalDependencies ?? {}).sort(),
      inConsole,
    };
  };
  const installed = runTime
    .filter(([path]) => !platformPackages.has(path.slice(prefix.length)))
    .map((entry) => component(entry, false));
  const bundled = consolePackages.map((name) => {
    const entry = entries.find(([path]) => path === `${prefix}${name}`);
    if (entry === undefined)
      throw new Error(`the console is bundled from ${name}, which package-lock.json does not have`);
    return component(entry, true);
  });
  return [...installed, ...bundled].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function checkInstalled(folder: string, version: string): void {
  const installed = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  if (installed.version === version) return;
  throw new Error(`${folder} has version ${installed.version}, and package-lock.json ${version}; run npm ci`);
}

function licenceText(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no file with its licence`);
  return readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
}
