import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needed } from '../support/missing.ts';
import { nodeBinary } from '../support/node-binary.ts';
import { type SecureServer, startSecureServer } from './support/secure-server.ts';
import { type InstalledPackage, installedClient } from './support/typescript-package.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

let installed: InstalledPackage;
let server: SecureServer;
beforeAll(async () => {
  [installed, server] = await Promise.all([
    installedClient(['apache-arrow', '@types/node']),
    startSecureServer({ 'frames.demo': 'true' }),
  ]);
});
afterAll(async () => {
  await installed[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function manifest(): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(root, 'clients/typescript/package.json'), 'utf8'));
}

test('the package holds its build, its README and its licence, and needs no other package', async () => {
  const known = [
    /^dist\/[\w-]+\.js$/,
    /^dist\/types\/([\w-]+\/)?[\w-]+\.d\.ts$/,
    /^(package\.json|README\.md|LICENSE)$/,
  ];
  expect(installed.files.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
  expect(installed.files).toContain('dist/index.js');
  expect(await manifest()).not.toHaveProperty('dependencies');
});

test('its version is that of the server', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await manifest()).toMatchObject({ version, scripts: { prepack: 'node ../../scripts/build-client.mjs' } });
});

describe('for browsers', () => {
  /** What a bundler makes of a program of an application. */
  async function bundled(code: string): Promise<Buffer> {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: code, resolveDir: installed.folder },
      bundle: true,
      minify: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      external: ['apache-arrow'],
    });
    return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 });
  }

  test('all of it has at most 25 kB with gzip, and no module of Node', async () => {
    const all = await bundled("import * as framehold from '@framehold/client'; console.log(framehold);");
    expect(all.length).toBeLessThan(25_000);
  });

  test('what a program does not use is not in it', async () => {
    const error = await bundled("import { FrameholdError } from '@framehold/client'; console.log(FrameholdError);");
    expect(error.length).toBeLessThan(1000);
    const connection = await bundled("import { connect } from '@framehold/client'; connect('http://a');");
    const all = await bundled("import * as framehold from '@framehold/client'; console.log(framehold);");
    expect(connection.length).toBeLessThan(all.length - 300);
  });

  test('Arrow is there where its package is, and nowhere else', async () => {
    const code = (await bundled("import { arrow } from '@framehold/client/arrow'; console.log(arrow);")).length;
    expect(code).toBeLessThan(1000);
  });
});

const program = `
import { connect, ConnectionError, FrameholdError, type FrameInfo } from '@framehold/client';
import { connect as connectInNode } from '@framehold/client/node';
import { arrow } from '@framehold/client/arrow';

interface Trade { readonly symbol: string; readonly price: number; readonly id: bigint }

export async function use(): Promise<void> {
  const db = connect('https://localhost:9000', { token: 'fh_x', timeoutMs: 1000 });
  const result = await db.sql<Trade>('SELECT * FROM trades WHERE price > $p', { params: { p: 100 } });
  for await (const { symbol, price, id } of result) console.log(symbol.length, price.toFixed(), id + 1n);
  const rows: readonly Trade[] = await db.get<Trade>('trades', { columns: ['symbol'], rows: [0, 10] }).rows();
  const kept: { readonly handle: string } = await db.sql('SELECT 1', { keep: 'x', ttl: '1h' });
  const put = await db.put('x', [{ a: 1n }], { mode: 'append', onProgress: ({ sentBytes }) => sentBytes + 1 });
  const info: FrameInfo = await db.info('x');
  const [engine] = await db.engines();
  const appender = db.append<Trade>('trades');
  const { version } = await appender.write({ symbol: 'A', price: 1, id: 1n });
  await appender.close();
  for await (const row of db.follow<Trade>('trades', { start: 'end' })) { console.log(row.id); break; }
  const table = await connectInNode().get('trades').read(arrow);
  console.log(rows, kept, put.version, info.rows, engine?.state === 'up', version, table.numRows);
  try {
    await db.drop('x');
  } catch (error) {
    if (error instanceof ConnectionError) console.log(error.isSent);
    else if (error instanceof FrameholdError && error.code === 'handle_gone') console.log(error.hint, error.position);
  }
  // @ts-expect-error: there is no such code
  if (new FrameholdError('internal', '').code === 'no_such_code') return;
  // @ts-expect-error: a mode is one of three
  await db.put('x', 'a\\n', { mode: 'replace' });
}
`;

test.each([
  ['nodenext', 'es2022', 'dom'],
  ['bundler', 'esnext', 'dom'],
  ['nodenext', 'es2023', undefined],
])('its types satisfy a strict program, resolved as %s (%s, %s)', async (resolution, lib, dom) => {
  const name = `use-${resolution}-${lib}-${dom}.ts`;
  await writeFile(join(installed.folder, name), program);
  const options = [
    ...['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
    ...['--target', 'es2022', '--lib', [lib, dom].filter(Boolean).join(',')],
    ...['--module', resolution === 'bundler' ? 'esnext' : resolution, '--moduleResolution', resolution],
    // Those of apache-arrow are its own business.
    ...['--skipLibCheck', '--types', 'node', '--ignoreConfig'],
  ];
  const { stdout } = await run(process.execPath, [tsc, ...options, name], { cwd: installed.folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

test('its own types have no error', async () => {
  await writeFile(
    join(installed.folder, 'own.ts'),
    "import '@framehold/client';\nexport { connect } from '@framehold/client';\n",
  );
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '--ignoreConfig'];
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
  const { stdout } = await run(process.execPath, [tsc, ...options, '', ...modules, 'own.ts'], {
    cwd: installed.folder,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

const script = `
import { readFileSync } from 'node:fs';
import { connect } from '@framehold/client/node';
import { arrow, arrowBytes } from '@framehold/client/arrow';

const [url, folder, name] = process.argv.slice(2);
const file = (path) => folder + '/' + path;
const token = readFileSync(file('token'), 'utf8').trim();
const db = connect(url, { token, ca: file('ca.crt') });
const table = await db.get('trades', { rows: [0, 1000] }).read(arrow);
const { rows } = await db.put(name, arrowBytes(table));
const [{ n }] = await db.sql('SELECT count(*) AS n FROM ' + name).rows();
await using appender = db.append(name + '_log');
const { version } = await appender.write([{ n }, { n: 2n ** 62n }]);
const byCertificate = connect(url, {
  ca: readFileSync(file('ca.crt'), 'utf8'), cert: file('client.crt'), key: file('client.key'),
});
const { credential } = await byCertificate.whoami();
const arrowAgain = await byCertificate.get(name, { columns: ['symbol'] }).read(arrow);
const refused = await connect(url, { ca: file('ca.crt') }).whoami().catch(({ code }) => code);
const unknown = await connect(url, { token }).whoami().catch(({ code, hint }) => code + ': ' + hint);
console.log(JSON.stringify({ rows, n: Number(n), version, credential, again: arrowAgain.numRows, refused, unknown }));
`;

test.concurrent.for([20, 22, 24] as const)(
  'on Node %i it speaks HTTP and Flight over TLS, with a token and with a certificate, and lets the program end',
  async (major, { expect }) => {
    const binary = await needed(`the client for TypeScript on Node ${major}`, () => nodeBinary(major));
    if (binary === undefined) return;
    const path = join(installed.folder, `run${major}.mjs`);
    // Node 20 does not read \`await using\`.
    await writeFile(path, (await esbuild.transform(script, { target: 'es2022' })).code);
    const env = { PATH: process.env.PATH ?? '', HOME: installed.folder };
    const { stdout } = await run(binary, [path, server.url, server.folder, `node${major}`], { env, timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual({
      rows: 1000,
      n: 1000,
      version: 1,
      credential: 'certificate',
      again: 1000,
      refused: 'unauthenticated',
      unknown: 'unreachable: give its authority as ca',
    });
  },
);
