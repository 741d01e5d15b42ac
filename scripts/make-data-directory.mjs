// Writes test/fixtures/data-directories/<version>.tar.gz: a data directory of this version as kill -9 leaves it, and a ledger of
// its rows. Later versions are tested on it. For each release, once: `npm run build && node scripts/make-data-directory.mjs`
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const program = join(root, 'dist/main.js');
const target = join(root, `test/fixtures/data-directories/${version}.tar.gz`);
const work = mkdtempSync(join(tmpdir(), 'framehold-data-'));
const dataDir = join(work, 'data');

const produced = { 'producer-id': 'loader', 'producer-epoch': '3' };
const typed = `SELECT i::BIGINT AS id, i % 2 = 0 AS even, i / 4.0::DOUBLE AS share, (i * 1.25)::DECIMAL(18, 3) AS price,
  'été ' || i AS name, DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMP '2026-01-01 10:00:00.123456' + i * INTERVAL 1 SECOND AS at,
  CASE WHEN i % 3 = 0 THEN NULL ELSE i::SMALLINT END AS seldom, [i, NULL, i + 1] AS list, {'a': i, 'b': 'x' || i} AS pair,
  MAP {'k': i} AS entries, INTERVAL (i) DAY AS span FROM range(20) t(i) ORDER BY i`;

try {
  if (existsSync(target)) throw new Error(`${target} is there already; a released version is written once`);
  mkdirSync(dataDir, { recursive: true });
  const operator = run(['token', 'create', '--role', 'operator', '--name', 'root', '--data-dir', dataDir]).trim();
  const server = await startServer();
  const ask = (token) => (argv, input) => run([...argv, '--server', server.url], { token, input });
  const own = ask(operator);
  own(['tenant', 'create', 'acme', '--max-frames', '5', '--max-bytes', '10MB']);
  const writer = own(['token', 'create', '--role', 'write', '--name', 'loader', '--tenant', 'acme']).trim();
  const acme = ask(writer);

  own(['put', '-', '--handle', 'trades', '--format', 'csv'], csv(0, 100));
  own(['sql', typed, '-o', join(work, 'typed.arrow')]);
  own(['put', join(work, 'typed.arrow')]);
  for (const part of [0, 1, 2]) {
    own(['put', '-', '--handle', 'parts', '--format', 'csv', '--append'], csv(part * 10, 10));
    own(['flush', 'parts']);
  }
  own(['put', '-', '--handle', 'lasting', '--format', 'csv', '--ttl', '36500d'], csv(0, 5));
  own(['put', '-', '--handle', 'dropped', '--format', 'csv'], csv(0, 5));
  own(['rm', 'dropped']);
  acme(['put', '-', '--handle', 'prices', '--format', 'csv'], csv(0, 7));
  run(['share', 'prices', '--with', 'default', '--server', server.url, '--tenant', 'acme'], { token: operator });
  // Rows that are only in the log when the server is killed, which is long before it would flush them.
  own(['put', '-', '--handle', 'logged', '--format', 'csv'], csv(0, 3));
  for (const seq of [0, 1, 2]) await append(server.url, operator, 'logged', csv(3 + seq, 1), seq);
  acme(['put', '-', '--handle', 'prices', '--format', 'csv', '--append'], csv(7, 2));

  const frames = [
    ...['trades', 'typed', 'parts', 'lasting', 'logged'].map((handle) => frame(own, 'default', handle)),
    frame(acme, 'acme', 'prices'),
  ];
  server.child.kill('SIGKILL');
  await once(server.child, 'exit');
  for (const derived of ['analytics.duckdb', 'cache', 'warm', 'spill']) {
    rmSync(join(dataDir, derived), { recursive: true, force: true });
  }
  const ledger = {
    version,
    frames,
    dropped: ['dropped'],
    producer: { handle: 'logged', ...produced, 'producer-seq': '2' },
    // In pieces, so that scanners do not take a test token for a leaked one.
    tokens: { operator: pieces(operator), writer: pieces(writer) },
    limits: { tenant: 'acme', maxFrames: 5, maxBytes: 10_000_000 },
    share: { tenant: 'acme', handle: 'prices', with: 'default' },
  };
  writeFileSync(join(work, 'ledger.json'), `${JSON.stringify(ledger, null, 1)}\n`);
  const packed = spawnSync('tar', ['-czf', target, '--owner=0', '--group=0', '-C', work, 'ledger.json', 'data']);
  if (packed.status !== 0) throw new Error(`tar failed: ${packed.stderr}`);
  process.stdout.write(`${target}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function run(argv, { token, input = '' } = {}) {
  const env = { PATH: process.env.PATH, HOME: work, ...(token && { FRAMEHOLD_TOKEN: token }) };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], { env, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`framehold ${argv.slice(0, 2).join(' ')} failed: ${stderr}`);
  return stdout;
}

async function startServer() {
  const flags = [
    '--http-bind-address',
    '127.0.0.1:0',
    '--grpc-host',
    '127.0.0.1',
    '--grpc-port',
    '0',
    '--auth-enabled',
  ];
  const argv = [program, 'server', '--data-dir', dataDir, ...flags];
  const env = { PATH: process.env.PATH, HOME: work };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const text of child.stdout.setEncoding('utf8')) {
    const [url] = /http:\/\/[\d.:]+/.exec(text) ?? [];
    if (url !== undefined) return { url, child };
  }
  throw new Error('the server ended before its banner');
}

function csv(from, rows) {
  const lines = Array.from({ length: rows }, (_, at) => `${from + at},S${(from + at) % 3},${(from + at) * 0.5}`);
  return `id,symbol,price\n${lines.join('\n')}\n`;
}

async function append(url, token, handle, body, seq) {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'text/csv',
    ...produced,
    'producer-seq': `${seq}`,
  };
  const answer = await fetch(`${url}/imp?name=${handle}&append=true`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`an append was refused: ${await answer.text()}`);
}

function frame(ask, tenant, handle) {
  return { tenant, handle, rows: ask(['get', handle, '--format', 'csv']) };
}

function pieces(token) {
  return token.match(/.{1,12}/g);
}
