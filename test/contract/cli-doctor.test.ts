import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Finding } from '../../src/doctor/finding.ts';
import { tryListeners } from '../../src/doctor/listeners.ts';
import { certificateAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { codeBlocks, guideSection } from '../support/guide-section.ts';
import { TestIssuer } from '../support/issuer.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { spawnCommand } from '../support/spawned-command.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { serverNames, writePair } from '../support/tls-framehold.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** So that no test depends on the ports that are in use here. */
const anyPorts = ['--http-bind-address=127.0.0.1:0', '--grpc-host=127.0.0.1', '--grpc-port=0'];

let home: TemporaryDirectory;

beforeAll(async () => {
  home = await temporaryDirectory();
});

afterAll(() => home[Symbol.asyncDispose]());

interface Report {
  readonly status: number | null;
  readonly checks: readonly Finding[];
  /** The one of this name. */
  of(check: Finding['check']): Finding | undefined;
}

async function doctor(argv: readonly string[], cwd = home.path): Promise<Report> {
  const { status, stdout, stderr } = await spawnCommand(['doctor', '--json', ...argv], { cwd }).result;
  return { status, ...report(stdout, stderr) };
}

function report(stdout: string, stderr: string): Omit<Report, 'status'> {
  expect(stderr).toBe('');
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Finding[] };
  return { checks, of: (check) => checks.find((each) => each.check === check) };
}

/** Everything below a folder. */
async function filesIn(path: string): Promise<readonly string[]> {
  return (await readdir(path, { recursive: true })).sort();
}

describe('framehold doctor', () => {
  it('prints a line for each check and their sum before the first start, and leaves nothing behind', async () => {
    await using fresh = await temporaryDirectory();
    await mkdir(join(fresh.path, 'tmp'));
    const env = { TMPDIR: join(fresh.path, 'tmp') };
    const { status, stdout } = await spawnCommand(['doctor', ...anyPorts], { cwd: fresh.path, env }).result;
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const sum = lines.pop() ?? '';
    for (const line of lines) expect(line).toMatch(/^(ok {2}|note|warn) {2}[a-z]+ +\S/);
    for (const check of ['node', 'duckdb', 'memory', 'files', 'cold', 'fsync', 'clock', 'http', 'grpc', 'security']) {
      expect(stdout).toMatch(new RegExp(`^\\w+ +${check} `, 'm'));
    }
    expect(stdout).toMatch(/^ok +duckdb +DuckDB \d+\.\d+\.\d+ answers/m);
    expect(stdout).toContain(`${join(fresh.path, '.framehold/data/cold')} can be made in ${fresh.path}`);
    expect(sum).toMatch(new RegExp(`^${lines.length} checks: \\d+ ok, \\d+ note, \\d+ warn, 0 fail$`));
    expect(await filesIn(fresh.path)).toEqual(['tmp']);
  });

  it.each([
    [['--grpc-port=x'], 'framehold: server.grpc_port is "x" (set by --grpc-port); expected a port'],
    [['--json=yes'], 'framehold: --json takes no value; leave out "yes"'],
  ])('%j is wrong usage', async (argv, line) => {
    const { status, stdout, stderr } = await spawnCommand(['doctor', ...argv], { cwd: home.path }).result;
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(line);
  });

  it('--help lists its own flag before the settings', async () => {
    const { status, stdout } = await spawnCommand(['doctor', '--help'], { cwd: home.path }).result;
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}--json$[\s\S]*^ {2}--data-dir <path>$/m);
  });

  it('stops at Ctrl-C and leaves nothing behind', async () => {
    await using data = await temporaryDirectory();
    await mkdir(join(data.path, 'tmp'));
    const env = { TMPDIR: join(data.path, 'tmp') };
    // It accepts, and answers nothing: the check waits for it.
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const connected = once(silent, 'connection');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const argv = ['doctor', ...anyPorts, `--data-dir=${data.path}`, `--tsdb-http-url=${url}`];
    const { child, result } = spawnCommand(argv, { cwd: home.path, env });
    const [socket] = await connected;
    child.kill('SIGINT');
    const { status, stdout, stderr } = await result;
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe('framehold: stopped before everything was checked\n');
    expect(await filesIn(data.path)).toEqual(['tmp']);
    socket.destroy();
    silent.close();
  });
});

describe('beside a running server', () => {
  let server: SpawnedFramehold;
  let healthPort: number;
  let data: TemporaryDirectory;

  beforeAll(async () => {
    data = await temporaryDirectory();
    healthPort = await freePort();
    const flags = [`--health-address=127.0.0.1:${healthPort}`];
    server = await spawnFramehold({ dataDir: data.path, flags });
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await data[Symbol.asyncDispose]();
  });

  it('tells that a Framehold has the ports, and disturbs it in nothing', async () => {
    const { status, of } = await doctor([
      `--http-bind-address=127.0.0.1:${new URL(server.url).port}`,
      ...['--grpc-host=127.0.0.1', `--grpc-port=${server.grpcPort}`, `--data-dir=${data.path}`],
      `--health-address=127.0.0.1:${healthPort}`,
    ]);
    expect(status).toBe(0);
    for (const check of ['http', 'grpc', 'health'] as const) {
      expect(of(check)).toMatchObject({ level: 'note', found: expect.stringMatching(/in use by Framehold \d+\.\d+/) });
    }
    expect(of('fsync')?.found).toMatch(/^[\d.]+ m?s median, [\d.]+ m?s worst of \d+ durable writes in /);
    expect(of('cold')?.found).toContain('O_DSYNC, hard links, rename, fsync of a folder work');
    expect((await filesIn(data.path)).filter((name) => name.includes('doctor'))).toEqual([]);
    expect(server.stderr()).not.toContain('"warn"');
  });
});

describe.concurrent('a fault', () => {
  it('of another program on a port is told with that program, and fails', async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, of } = await doctor([
      ...[`--http-bind-address=127.0.0.1:${port}`, '--grpc-host=192.0.2.1', '--grpc-port=1'],
      '--health-address=127.0.0.1:0',
    ]);
    other.close();
    expect(status).toBe(1);
    expect(of('http')).toMatchObject({
      level: 'fail',
      found: expect.stringMatching(new RegExp(`in use by another program, .*pid ${process.pid}`)),
      remedy: expect.stringContaining('--http-bind-address'),
    });
    expect(of('grpc')).toMatchObject({ level: 'fail', found: '192.0.2.1:1 is not an address of this machine' });
    expect(of('health')).toMatchObject({ level: 'ok' });
  });

  it('of files and directories is told with the path, and fails', async () => {
    await using folder = await temporaryDirectory();
    const path = (name: string): string => join(folder.path, name);
    const authority = certificateAuthority();
    const pair = { certFile: path('tls.crt'), keyFile: path('tls.key') };
    await writePair(pair, { ...authority.issue(serverNames), key: authority.issue(serverNames).key });
    await writeFile(path('file'), 'no directory');
    const { status, of } = await doctor([
      ...anyPorts,
      ...[`--data-dir=${path('file/below')}`, `--duckdb-path=${path('file')}`, `--audit-file=${path('none/audit')}`],
      ...[`--tls-cert-file=${pair.certFile}`, `--tls-key-file=${pair.keyFile}`],
    ]);
    expect(status).toBe(1);
    for (const check of ['data', 'cold'] as const) {
      expect(of(check)).toMatchObject({ level: 'fail', found: expect.stringContaining(`${path('file/below')}`) });
    }
    expect(of('tls')).toMatchObject({ level: 'fail', found: expect.stringContaining('is not the key') });
    expect(of('analytics')).toMatchObject({ level: 'fail', found: expect.stringContaining(path('file')) });
    expect(of('audit')).toMatchObject({ level: 'fail', found: expect.stringContaining('ENOENT') });
  });

  it('of other programs is a warning for each, whose password is not told', async () => {
    const issuer = await TestIssuer.start();
    const down = await TestIssuer.start();
    down.fault = 'silent';
    const section = (name: string, url: string): string =>
      `[auth.issuers.${name}]\nissuer = "${url}"\naudience = "framehold"\ntenant = "default"\nroles = { quants = "read" }\n`;
    const engine = '[engines.spark]\nkind = "spark-connect"\nurl = "sc://127.0.0.1:1/;token=s3cret"\n';
    const toml = `${section('good', issuer.url)}${section('silent', down.url)}${engine}[auth]\nenabled = true\n`;
    await writeFile(join(home.path, 'services.toml'), toml);
    const begunMs = performance.now();
    const { status, stdout, stderr } = await spawnCommand(
      [
        ...['doctor', '--json', '--config=services.toml', ...anyPorts],
        ...['--tsdb-http-url=http://me:s3cret@127.0.0.1:1', '--otel-endpoint=http://127.0.0.1:1'],
      ],
      { cwd: home.path },
    ).result;
    expect(performance.now() - begunMs).toBeLessThan(10_000);
    const { checks, of } = report(stdout, stderr);
    expect(status).toBe(0);
    for (const check of ['tsdb', 'engine', 'otel'] as const) expect(of(check)).toMatchObject({ level: 'warn' });
    expect(checks.filter(({ check }) => check === 'issuer')).toMatchObject([
      { level: 'ok', found: expect.stringContaining('gives 1 key') },
      { level: 'warn', found: expect.stringContaining('no answer in 2.5 s') },
    ]);
    expect(of('clock')?.found).toContain('issuer good');
    expect(of('security')).toMatchObject({ level: 'ok' });
    expect(stdout).not.toContain('s3cret');
    issuer.stop();
    down.stop();
  });

  it('of a limit of open files is a warning with the limit', async () => {
    const command = 'ulimit -n 256; exec "$@"';
    const argv = ['-c', command, 'bash', process.execPath, program, 'doctor', '--json', ...anyPorts];
    const { of } = await underOtherProgram('bash', argv);
    expect(of('files')).toMatchObject({
      level: 'warn',
      found: expect.stringContaining('256 open files allowed'),
      remedy: expect.stringContaining('LimitNOFILE='),
    });
  });

  it.skipIf(leftOutWithoutMount())(
    'of a directory that is read-only is a warning, and one that cannot be made fails',
    async () => {
      await using folder = await temporaryDirectory();
      await mkdir(join(folder.path, 'mounted'));
      const mounted = join(folder.path, 'mounted');
      const script = 'mount -t tmpfs none "$0" && mkdir "$0/data" && mount -o remount,ro "$0" && exec "$@"';
      const flags = [`--data-dir=${mounted}/data`, `--parquet-path=${mounted}/cold`];
      const { of } = await underOtherProgram('unshare', [
        ...[
          '--mount',
          'sh',
          '-c',
          script,
          mounted,
          process.execPath,
          program,
          'doctor',
          '--json',
          ...anyPorts,
          ...flags,
        ],
      ]);
      expect(of('data')).toMatchObject({ level: 'warn', found: expect.stringContaining('cannot be written (EROFS)') });
      expect(of('cold')).toMatchObject({
        level: 'fail',
        found: expect.stringContaining(`cannot be made in ${mounted}`),
      });
    },
  );
});

test('a client that connects while an address is tried does not hold up the check', async () => {
  const [first, second] = [await freePort(), await freePort()];
  // The name is looked up: the first address listens for that time.
  const listeners = [
    { name: 'http', address: { host: '127.0.0.1', port: first }, setting: '--http-bind-address' },
    { name: 'grpc', address: { host: 'localhost', port: second }, setting: '--grpc-port' },
  ] as const;
  const clients = setInterval(() => {
    connect(first, '127.0.0.1').on('error', () => {});
  }, 0);
  try {
    for (let round = 0; round < 100; round++) {
      const tried = await tryListeners(listeners, { signal: new AbortController().signal });
      expect(tried.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    }
  } finally {
    clearInterval(clients);
  }
});

test('the command of the guide for the first day works as it stands there', async () => {
  const [command = '', ...others] = codeBlocks(guideSection('operating.md', '## First day'), 'sh');
  expect(others).toEqual([]);
  await using folder = await temporaryDirectory();
  const script = `framehold() { '${process.execPath}' '${program}' "$@"; }\n${command}`;
  const ports = { FRAMEHOLD_HTTP_BIND_ADDRESS: '127.0.0.1:0', FRAMEHOLD_GRPC_PORT: '0' };
  const { stdout } = await run('bash', ['-euc', script], folder.path, ports);
  expect(stdout).toMatch(/^\d+ checks: /m);
  expect(await filesIn(folder.path)).toEqual([]);
});

async function underOtherProgram(command: string, argv: readonly string[]): Promise<Omit<Report, 'status'>> {
  const { stdout, stderr } = await run(command, argv, home.path);
  return report(stdout, stderr);
}

async function run(command: string, argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, argv, { cwd, env: { PATH: process.env.PATH, HOME: cwd, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child, 'close');
  return { stdout, stderr };
}
