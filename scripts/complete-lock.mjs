// Run after `npm install` where the registry is a mirror that lacks packages of other platforms: npm then leaves them
// out of package-lock.json, `npm ci` refuses such a file, and on those platforms the tools would be missing.
import { readFileSync, writeFileSync } from 'node:fs';

const path = process.argv[2] ?? 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8'));

/** The facts of a platform package, from its name: `…-linux-arm64-musl`. */
function platformOf(name) {
  const match = /-(?<os>android|darwin|freebsd|linux|openharmony|win32)-(?<cpu>[a-z0-9]+)(?:-(?<abi>[a-z]+))?$/.exec(
    name,
  );
  if (match === null) return name.endsWith('-wasm32-wasi') ? { cpu: ['wasm32'] } : undefined;
  const { os, cpu, abi } = match.groups;
  if (os !== 'linux') return { cpu: [cpu], os: [os] };
  return { cpu: [cpu], libc: [abi === 'musl' ? 'musl' : 'glibc'], os: [os] };
}

for (const [at, found] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(found.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined || lock.packages[`${at}/${key}`] !== undefined) continue;
    const platform = platformOf(name);
    if (platform === undefined) throw new Error(`of ${name} the platform cannot be told`);
    const dev = found.dev === true ? { dev: true } : {};
    lock.packages[key] = { version, ...dev, optional: true, ...platform };
    console.log(`added ${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
