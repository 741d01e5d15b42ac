import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

/** Bytes of gzip that a browser loads before it shows anything, and all of it together. */
const mostBytes = { shell: 60_000, all: 240_000 };
const packed = new Set(['.js', '.css', '.svg']);

/** The packages whose code is in the console. */
export async function consolePackages(root) {
  const { metafile } = await bundle(root, join(root, 'dist', 'console'));
  const names = Object.entries(metafile.outputs)
    .flatMap(([, { inputs }]) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  return [...new Set(names)].filter((name) => name !== undefined).sort();
}

/** Bundles the console into `outdir`: the page, and files that are named after their content. Throws where it is too large. */
export async function buildConsole(root, outdir) {
  const folder = join(root, 'console');
  const { outputFiles, metafile } = await bundle(root, outdir);
  mkdirSync(outdir, { recursive: true });
  const sizes = new Map();
  const write = (name, bytes) => {
    writeFileSync(join(outdir, name), bytes);
    const small = gzipSync(bytes, { level: 9 });
    sizes.set(name, small.length);
    if (!packed.has(extname(name))) return;
    writeFileSync(join(outdir, `${name}.gz`), small);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(outdir, `${name}.br`), brotliCompressSync(bytes, { params }));
  };
  for (const { path, contents } of outputFiles) write(basename(path), contents);
  const icon = readFileSync(join(folder, 'icon.svg'));
  const iconName = `icon-${hash('sha256', icon).slice(0, 8).toUpperCase()}.svg`;
  write(iconName, icon);
  const outputOf = (entryPoint) =>
    Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entryPoint)?.[0] ?? '';
  const script = outputOf('console/main.tsx');
  const style = outputOf('console/style/console.css');
  // Known to the browser from the start: it need not read one file to learn of the next.
  const firstView = outputOf('console/frames/frames-view.tsx');
  const preloaded = [...new Set([script, firstView].flatMap((path) => importedBy(metafile, path)))]
    .map((path) => `<link rel="modulepreload" href="console/${basename(path)}">`)
    .join('\n    ');
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('%script%', `console/${basename(script)}`)
    .replace('%style%', `console/${basename(style)}`)
    .replace('%preloaded%', preloaded)
    .replace('%icon%', `console/${iconName}`);
  write('index.html', Buffer.from(page));
  const shell = ['index.html', basename(style), ...importedBy(metafile, script).map((path) => basename(path))];
  const sum = (names) => names.reduce((bytes, name) => bytes + (sizes.get(name) ?? 0), 0);
  const total = { shell: sum(shell), all: sum([...sizes.keys()]) };
  for (const [what, most] of Object.entries(mostBytes)) {
    if (total[what] > most) throw new Error(`the console is too large: ${what} has ${total[what]} bytes, of ${most}`);
  }
  return total;
}

/** A file and its immediate imports. */
function importedBy(metafile, first) {
  const found = new Set([first]);
  for (const path of found) {
    for (const { path: next, kind } of metafile.outputs[path].imports) if (kind === 'import-statement') found.add(next);
  }
  return [...found];
}

/** In memory. */
function bundle(root, outdir) {
  return esbuild.build({
    absWorkingDir: root,
    entryPoints: { main: 'console/main.tsx', console: 'console/style/console.css' },
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'file' },
    legalComments: 'none',
    logLevel: 'warning',
  });
}
