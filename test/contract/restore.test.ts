import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/core/logs/logger.ts';
import { backupDirectory } from '../../src/frames/backup/backup-directory.ts';
import { assertNoCutOffRestore } from '../../src/frames/backup/cut-off-restore.ts';
import { type RestoreReport, restoreBackup } from '../../src/frames/backup/restore-backup.ts';
import { smallDisk } from '../faults/disk/small-disk.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { soon } from '../support/soon.ts';
import { spawnCommand } from '../support/spawned-command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const { signal } = new AbortController();

let directory: TemporaryDirectory;
let backups: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  backups = join(directory.path, 'backups');
  await mkdir(join(dataDir, 'cold'), { recursive: true });
  await writeFile(join(dataDir, 'analytics.duckdb'), 'a'.repeat(100_000));
  await writeFile(join(dataDir, 'analytics.duckdb.wal'), 'its log');
  await writeFile(join(dataDir, 'cold', 'large.parquet'), `PAR1${'x'.repeat(3_000_000)}PAR1`);
  const [coldDirectory, analyticsPath] = [join(dataDir, 'cold'), join(dataDir, 'analytics.duckdb')];
  const places = { coldDirectory, analyticsPath, dataDirectory: dataDir, destination: backups };
  await backupDirectory({ ...places, keep: undefined, logger: silentLogger, signal });
});
afterAll(() => directory[Symbol.asyncDispose]());

function restore(to: string, source = backups): Promise<RestoreReport> {
  const places = { coldDirectory: join(to, 'cold'), analyticsPath: join(to, 'analytics.duckdb') };
  return restoreBackup({ ...places, source, signal });
}

async function backupPath(): Promise<string> {
  const [name = ''] = (await readdir(backups)).filter((each) => each.endsWith('Z'));
  return join(backups, name);
}

test('the cold directory may be a link to an empty folder', async () => {
  const to = join(directory.path, 'linked');
  await mkdir(join(to, 'elsewhere'), { recursive: true });
  await symlink('elsewhere', join(to, 'cold'));
  expect(await restore(to)).toMatchObject({ frames: 1, faults: [] });
  expect((await readdir(to)).sort()).toEqual(['analytics.duckdb', 'analytics.duckdb.wal', 'cold', 'elsewhere']);
  expect(await readdir(join(to, 'elsewhere'))).toContain('large.parquet');
});

test('what was left out of the backup is told, and a listing that does not know of it is read', async () => {
  const incomplete = join(directory.path, 'incomplete');
  await cp(await backupPath(), incomplete, { recursive: true });
  expect((await restore(join(directory.path, 'complete'), incomplete)).leftOut).toEqual([]);
  const listing = join(incomplete, 'backup.jsonl');
  const lines = (await readFile(listing, 'utf8')).trimEnd().split('\n');
  const leftOut = [
    { tenant: 'acme', handle: 'orders', reason: 'its files are missing' },
    { reason: 'analytics.duckdb is being written' },
  ];
  const end = JSON.stringify({ ...JSON.parse(lines.pop() ?? ''), leftOut });
  await writeFile(listing, `${[...lines, end].join('\n')}\n`);
  const report = await restore(join(directory.path, 'of-incomplete'), incomplete);
  expect(report).toMatchObject({ frames: 1, faults: [] });
  expect(report.leftOut).toEqual([
    { frame: { tenant: 'acme', handle: 'orders' }, reason: 'its files are missing' },
    { frame: undefined, reason: 'analytics.duckdb is being written' },
  ]);
});

test('no server starts where a restore is under way or was killed, until it was run again or what it left is removed', async () => {
  const to = join(directory.path, 'killed');
  const [cold, partial] = [join(to, 'cold'), join(to, 'cold.partial')];
  const argv = ['--data-dir', to, '--http-bind-address', '127.0.0.1:0', '--grpc-host', '127.0.0.1', '--grpc-port', '0'];
  const spawn = (...given: readonly string[]) => {
    const spawned = spawnCommand(given, { cwd: directory.path });
    onTestFinished(() => void spawned.child.kill('SIGKILL'));
    return spawned;
  };
  const serve = () => spawn('server', ...argv);
  const run = (source: string) => spawn('restore', source, '--data-dir', to);
  // A restore from it never ends: nobody writes to the pipe.
  const endless = join(directory.path, 'endless');
  await cp(await backupPath(), endless, { recursive: true });
  await rm(join(endless, 'cold', 'large.parquet'));
  execFileSync('mkfifo', [join(endless, 'cold', 'large.parquet')]);
  const { child, result } = run(endless);
  await soon(() => expect(existsSync(partial)).toBe(true));
  expect(await serve().result).toMatchObject({
    status: 1,
    stderr: `framehold: could not start: ${cold} is being restored (process ${child.pid}); start the server when the restore is done\n`,
  });
  child.kill('SIGKILL');
  expect((await result).status).toBe(null);
  const names = (await readdir(to)).sort();
  expect(names).toContain('cold.partial');
  const line = `framehold: could not start: ${cold} is empty, and a restore of it was cut off: ${partial} is left; run "framehold restore" again, or remove ${partial} to start without frames\n`;
  expect(await serve().result).toMatchObject({ status: 1, stdout: '', stderr: line });
  expect((await readdir(to)).sort()).toEqual(names);
  await mkdir(cold);
  expect(await serve().result).toMatchObject({ status: 1, stdout: '', stderr: line });

  expect(await run(backups).result).toMatchObject({ status: 0, stderr: '' });
  expect((await readdir(to)).sort()).toEqual(['analytics.duckdb', 'analytics.duckdb.wal', 'cold']);
  await expect(assertNoCutOffRestore(cold)).resolves.toBeUndefined();
  // A directory that has something is served, whatever lies beside it.
  await mkdir(partial);
  await expect(assertNoCutOffRestore(cold)).resolves.toBeUndefined();
  await rm(cold, { recursive: true });
  await expect(assertNoCutOffRestore(cold)).rejects.toThrow('was cut off');
  await rm(partial, { recursive: true });
  await expect(assertNoCutOffRestore(cold)).resolves.toBeUndefined();
});

describe.skipIf(leftOutWithoutMount())('on a small disk', () => {
  test('a restore for which there is no room leaves nothing', async () => {
    await using disk = await smallDisk({ bytes: 8_000_000 });
    await disk.leave(1_000_000);
    const free = await disk.freeBytes();
    await expect(restore(join(disk.path, 'data'))).rejects.toThrow('there is no room for the backup in');
    expect(await readdir(join(disk.path, 'data'))).toEqual([]);
    expect(free - (await disk.freeBytes())).toBeLessThan(10_000);
  });
});
