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
  /** A package of its own, or code in the files of the program or the console. */
  readonly place: 'installed' | 'program' | 'console';
}

/** npm would warn of its install script, which only looks for the binaries that its platform packages have. */
const programPackages = ['koffi'];

interface LockPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The run-time dependencies of the lock file, and the packages whose code is in the program and the console. Their licence texts are those of
 * the installed packages. The packages of a platform are a part of the one that depends on them.
 */
export function shippedComponents(root: string, consolePackages: readonly string[]): readonly Component[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockPackage>;
  };
  const prefix = 'node_modules/';
  // A link is a package of this repository, whose code is ours.
  const entries = Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith(prefix) && link !== true);
  const runTime = entries.filter(([, { dev }]) => dev !== true);
  const bundled = (name: string, place: 'program' | 'console'): [string, LockPackage, Component['place']] => {
    const entry = entries.find(([path]) => path === `${prefix}${name}`);
    if (entry === undefined) throw new Error(`${name} is in the ${place}, and package-lock.json does not have it`);
    return [...entry, place];
  };
  const inLock = programPackages.filter((name) => lock.packages[`${prefix}${name}`] !== undefined);
  const ofProgram = inLock.map((name) => bundled(name, 'program'));
  const asking = [...runTime, ...ofProgram].map(([, found]) => found);
  const platformPackages = new Set(asking.flatMap((found) => Object.keys(found.optionalDependencies ?? {})));
  const isShipped = (name: string): boolean => lock.packages[`${prefix}${name}`]?.dev !== true;
  const component = ([path, found, place]: [string, LockPackage, Component['place']]): Component => {
    const name = path.slice(path.lastIndexOf(prefix) + prefix.length);
    if (found.license === undefined) throw new Error(`package-lock.json does not name the licence of ${name}`);
    const folder = join(root, path);
    checkInstalled(folder, found.version);
    return {
      name,
      version: found.version,
      licence: found.license,
      licenceText: licenceText(folder),
      platformPackages: Object.keys(found.optionalDependencies ?? {})
        .filter(isShipped)
        .sort(),
      place,
    };
  };
  const installed = runTime
    .filter(([path]) => !platformPackages.has(path.slice(prefix.length)))
    .map(([path, found]) => component([path, found, 'installed']));
  const inFiles = [...ofProgram, ...consolePackages.map((name) => bundled(name, 'console'))].map(component);
  return [...installed, ...inFiles].sort((a, b) => (a.name < b.name ? -1 : 1));
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
