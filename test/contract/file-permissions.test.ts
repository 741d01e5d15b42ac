import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/doctor/finding.ts';
import { postSql } from '../support/post-sql.ts';
import { childrenOf } from '../support/process-facts.ts';
import { runCommand } from '../support/spawned-command.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** A process whose umask would leave everything open. */
const open = (argv: readonly string[]): readonly string[] => ['/bin/sh', '-c', 'umask 000; exec "$@"', 'sh', ...argv];

let home: TemporaryDirectory;

beforeAll(async () => {
  home = await temporaryDirectory();
});

afterAll(() => home[Symbol.asyncDispose]());

function serve(dataDir: string, flags: readonly string[] = []): Promise<SpawnedFramehold> {
  return spawnFramehold({ dataDir, flags, command: open([process.execPath, program]) });
}

async function stop(server: SpawnedFramehold): Promise<void> {
  server.kill('SIGTERM');
  await server.exited;
}

/** What stands in a folder and the folder itself, with their permissions. */
async function permissionsBelow(path: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const name of ['', ...(await readdir(path, { recursive: true }))]) {
    const { mode } = await lstat(join(path, name));
    found.set(name, mode & 0o777);
  }
  return found;
}

function beyond(permissions: ReadonlyMap<string, number>, allowed: number): readonly string[] {
  return [...permissions].filter(([, mode]) => mode & ~allowed).map(([name, mode]) => `${mode.toString(8)} ${name}`);
}

async function fill({ url }: SpawnedFramehold): Promise<void> {
  const put = (handle: string, body: string, more = '') =>
    fetch(`${url}/imp?name=${handle}${more}`, { method: 'POST', body });
  expect((await put('flat', 'a,b\n1,x\n2,y\n')).status).toBe(200);
  expect((await put('flat', 'a,b\n3,z\n', '&append=true')).status).toBe(200);
  // DuckDB's own writer makes the file of a frame with such a column.
  const statements = [
    'create table nested as select [i] as l, uuid() as u from range(1000) r(i)',
    'create macro twice(x) as x * 2',
  ];
  for (const sql of statements) expect((await postSql(url, sql)).status).toBe(200);
  expect((await fetch(`${url}/exec?handle=flat&fmt=json`)).status).toBe(200);
}

describe('the data directory', () => {
  it('and all that a server, its processes and the commands put there is open to its user alone, whatever the umask', async () => {
    const dataDir = join(home.path, 'closed');
    await using server = await serve(dataDir);
    await fill(server);
    await expect.poll(() => readdir(dataDir)).toContain('analytics.duckdb');
    const children = childrenOf(server.pid);
    expect(children.length).toBeGreaterThan(0);
    for (const pid of children) expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^Umask:\s0077$/m);
    expect(server.stderr()).not.toContain('chmod');
    expect(beyond(await permissionsBelow(join(dataDir, 'cold')), 0o700)).toEqual([]);
    await stop(server);
    const commands = [
      ['token', 'create', '--name', 'a', '--role', 'read', '--data-dir', dataDir],
      ['tenant', 'create', 'acme', '--data-dir', dataDir],
      ['backup', join(home.path, 'backups'), '--data-dir', dataDir],
    ];
    for (const argv of commands)
      execFileSync('/bin/sh', open([process.execPath, program, ...argv]).slice(1), {
        env: { HOME: home.path },
        stdio: 'pipe',
      });
    expect(beyond(await permissionsBelow(dataDir), 0o700)).toEqual([]);
    expect(beyond(await permissionsBelow(join(home.path, 'backups')), 0o700)).toEqual([]);
    const files = [...(await permissionsBelow(dataDir))].filter(([name]) => name.endsWith('.parquet'));
    expect(files.map(([, mode]) => mode)).toEqual(files.map(() => 0o600));
    expect(files.length).toBeGreaterThan(0);
  });

  it('is shared with the group where storage.umask has it so', async () => {
    const dataDir = join(home.path, 'shared');
    await using server = await serve(dataDir, ['--umask=027']);
    await fill(server);
    const permissions = await permissionsBelow(join(dataDir, 'cold'));
    expect(beyond(permissions, 0o750)).toEqual([]);
    expect(permissions.get('flat.parquet')).toBe(0o640);
    await stop(server);
  });

  it('that is open is told at the start and by doctor, with the command that closes it', async () => {
    const dataDir = join(home.path, "an 'old' one");
    await mkdir(dataDir);
    {
      await using server = await serve(dataDir);
      await fill(server);
      await stop(server);
    }
    for (const [name, mode] of await permissionsBelow(dataDir)) await chmod(join(dataDir, name), mode | 0o055);
    await using server = await serve(dataDir);
    const lines = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('is open to other users of this machine'));
    expect(lines).toHaveLength(1);
    await stop(server);
    const before = await permissionsByDoctor(dataDir);
    expect(before).toMatchObject({ level: 'warn', found: `${dataDir} (755) is open to other users of this machine` });
    execFileSync('/bin/sh', ['-c', before?.remedy ?? 'false']);
    expect(beyond(await permissionsBelow(dataDir), 0o700)).toEqual([]);
    expect(await permissionsByDoctor(dataDir)).toMatchObject({ level: 'ok' });
  });

  it.each(['700', '1077', '78', 'rwx'])('does not take %s for a umask', async (umask) => {
    const { status, stderr } = await runCommand(['config', `--umask=${umask}`], { cwd: home.path });
    expect(status).toBe(2);
    expect(stderr).toContain('expected the octal digits of a umask that leaves the owner all rights');
  });
});

async function permissionsByDoctor(dataDir: string): Promise<Finding | undefined> {
  const { stdout } = await runCommand(
    ['doctor', '--json', `--data-dir=${dataDir}`, '--http-bind-address=127.0.0.1:0'],
    {
      cwd: home.path,
    },
  );
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Finding[] };
  return checks.find(({ check }) => check === 'permissions');
}
