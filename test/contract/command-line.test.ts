import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'framehold-cli-'));

beforeAll(() => {
  if (!existsSync(program)) throw new Error(`${program} is missing; run npm run build first`);
});

afterAll(() => rmSync(home, { recursive: true }));

function framehold(argv: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    cwd: home,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

describe('framehold', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j prints help and exits with 0', (argv) => {
    const { status, stdout, stderr } = framehold(argv);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Usage: framehold <command>');
    expect(stdout).toMatch(/^ {2}server {2,}Serve/m);
  });

  it('--version prints the version of the package', () => {
    expect(framehold(['--version'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^framehold \d+\.\d+\.\d+\n$/),
    });
  });

  it('server --help lists the flags of the specification', () => {
    const { status, stdout } = framehold(['server', '--grpc-port', '1', '--help']);
    expect(status).toBe(0);
    for (const flag of ['--grpc-port <port>', '--data-dir <path>', '--http-bind-address <host:port>', '--demo']) {
      expect(stdout).toContain(flag);
    }
  });

  it('config prints every setting, its value and where it came from', () => {
    const file = join(home, 'c.toml');
    writeFileSync(file, '[server]\nmax_connections = 7\n');
    const { status, stdout } = framehold(['config', '--grpc-port', '1', '--config', file], {
      SERVICE_TSDB_HTTP_URL: 'http://admin:s3cret@db:9000',
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^server\.grpc_port +1 +--grpc-port$/m);
    expect(stdout).toMatch(new RegExp(`^server\\.max_connections +7 +${file}:2$`, 'm'));
    expect(stdout).toMatch(/^tsdb\.http_url +http:\/\/\*\*\*@db:9000 +SERVICE_TSDB_HTTP_URL$/m);
    expect(stdout).toMatch(/^http\.max_limit +\(unset\) +default$/m);
    expect(stdout).not.toContain('s3cret');
  });
});

describe('wrong usage exits with 2 and one line that says why:', () => {
  it.each([
    [['sever'], 'framehold: unknown command "sever"; did you mean server?\n'],
    [['dance'], 'framehold: unknown command "dance"; the commands are '],
    [['--grpc-port', '1'], 'framehold: a command comes first, not "--grpc-port"'],
    [['server', '--grpc-prot', '1'], 'framehold: unknown flag "--grpc-prot"; did you mean --grpc-port?\n'],
    [
      ['server', '--grpc-port', '70000'],
      'framehold: server.grpc_port is "70000" (set by --grpc-port); expected a port',
    ],
    [['server', '--config', '/none.toml'], 'framehold: there is no config file /none.toml (named by --config)'],
    [['config', 'extra'], 'framehold: unexpected argument "extra"'],
  ])('%j', (argv, line) => {
    const { status, stdout, stderr } = framehold(argv);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('in the environment', () => {
    const { status, stderr } = framehold(['server'], { FRAMEHOLD_CACHE_SIZE: 'lots' });
    expect(status).toBe(2);
    expect(stderr).toContain('storage.cache_size_gb is "lots" (set by FRAMEHOLD_CACHE_SIZE)');
  });
});
