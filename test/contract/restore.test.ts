import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { backupDirectory } from '../../src/frames/backup/backup-directory.ts';
import { type RestoreReport, restoreBackup } from '../../src/frames/backup/restore-backup.ts';
import { smallDisk } from '../faults/disk/small-disk.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
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
  const [name = ''] = (await readdir(backups)).filter((each) => each.endsWith('Z'));
  await cp(join(backups, name), incomplete, { recursive: true });
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
