import { execFileSync, spawn } from 'node:child_process';
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { takeExclusiveFile } from '../../src/frames/peers/exclusive-file.ts';
import { smallDisk } from '../faults/disk/small-disk.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { privateFiles } from '../support/private-files.ts';
import { soon } from '../support/soon.ts';
import { type CommandResult, runCommand, spawnCommand } from '../support/spawned-command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** Without recompression, which would change files behind the tests. */
const settings = { 'compression.level': '1' };

let directory: TemporaryDirectory;
let dataDir: string;
let cold: string;
let server: Framehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  dataDir = join(directory.path, 'data');
  cold = join(dataDir, 'cold');
  server = await startFramehold({ dataDir, settings });
  for (const handle of ['one', 'two']) await putSql(server.frames, handle, 'SELECT range AS id FROM range(10_000)');
  for (let part = 0; part < 3; part++) {
    await putSql(server.frames, 'parts', `SELECT range + ${part} AS id FROM range(1000)`, { mode: 'append' });
  }
  await putSql(server.frames, 'brief', 'SELECT 1 AS id', { ttlMs: 3_600_000 });
  await putSql(server.frames, 'dropped', 'SELECT 1 AS id');
  await ask(`${server.url}/handles/dropped`, { method: 'DELETE' });
  // The first one makes the frame, the second one its log.
  for (const row of [0, 1]) await append('logged', `id\n${row}\n`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const command = (...argv: readonly string[]): Promise<CommandResult> => runCommand(argv, { cwd: directory.path });

async function append(handle: string, body: string): Promise<void> {
  const answer = await ask(`${server.url}/imp?name=${handle}&append=true`, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

async function newDestination(name: string): Promise<string> {
  const path = join(directory.path, name);
  await mkdir(path);
  return path;
}

/** Gives the path of the backup, and the rest of the line. */
async function backup(destination: string, ...flags: readonly string[]): Promise<readonly [string, string]> {
  const { status, stdout, stderr } = await command('backup', destination, '--data-dir', dataDir, ...flags);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [path = '', rest = ''] = stdout.trimEnd().split(': ');
  return [path, rest];
}

async function inode(path: string): Promise<number> {
  return (await stat(path)).ino;
}

/** Changes a byte in the middle and puts the time of change back. */
async function flip(path: string): Promise<void> {
  const reference = join(directory.path, 'times');
  execFileSync('touch', ['--reference', path, reference]);
  const { size } = await stat(path);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size >> 1);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, size >> 1);
  await file.close();
  execFileSync('touch', ['--reference', reference, path]);
}

describe('a backup beside a running server', () => {
  test('is a data directory that has every frame, the rows of the log, times to live and tombstones', async () => {
    const destination = await newDestination('whole');
    const [path, line] = await backup(destination);
    expect(path).toMatch(/\/whole\/\d{4}-\d\d-\d\dT\d{6}Z$/);
    expect(line).toMatch(/^5 frames, [\d.]+ kB, [\d.]+ kB of it copied, [\d.]+ m?s$/);
    expect((await readdir(path)).sort()).toEqual(['analytics.duckdb', 'backup.jsonl', 'cold']);
    expect((await readdir(join(path, 'cold', '.framehold'))).sort()).toEqual([
      'format.json',
      'logs',
      'manifests',
      'processes',
      'tombstones',
    ]);
    const restored = join(directory.path, 'restored');
    expect((await command('restore', destination, '--data-dir', restored)).stdout).toMatch(
      /^.*\/restored\/cold: restored from .*Z: 5 frames, [\d.]+ kB, [\d.]+ m?s\n$/,
    );
    expect((await command('verify', '--data-dir', restored)).stdout).toContain(': 5 sound, 0 damaged');
    await using copy = await startFramehold({ dataDir: restored, settings });
    for (const handle of ['one', 'two', 'parts', 'brief', 'logged']) {
      const [original, again] = await Promise.all(
        [server, copy].map(async ({ url }) => ({
          rows: (await ask(`${url}/exp?handle=${handle}`)).text,
          version: (await ask(`${url}/exec?handle=${handle}&fmt=json`)).headers.etag,
          ttl: (await ask(`${url}/handles/${handle}`)).json().ttl,
        })),
      );
      expect(again).toEqual(original);
    }
    expect((await ask(`${copy.url}/exp?handle=dropped`)).status).toBe(410);
  });

  test('copies only what has changed since the one before, and links the rest', async () => {
    const destination = await newDestination('again');
    const [first] = await backup(destination);
    await append('logged', 'id\n2\n');
    await putSql(server.frames, 'two', 'SELECT 5 AS id', { mode: 'overwrite' });
    const [second, line] = await backup(destination);
    const inodesOf = (file: string) => Promise.all([first, second].map((path) => inode(join(path, 'cold', file))));
    for (const file of [
      'one.parquet',
      'parts/000001.parquet',
      '.framehold/manifests/one.json',
      '../analytics.duckdb',
    ]) {
      const [before, after] = await inodesOf(file);
      expect({ file, ino: after }).toEqual({ file, ino: before });
    }
    const [before, after] = await inodesOf('two.parquet');
    expect(after).not.toBe(before);
    expect(line).toMatch(/, [\d.]+ k?B of it copied, /);
    // What a listing tells of a source is only what tells one state of a file from another.
    for (const path of [first, second]) {
      expect(await readFile(join(path, 'backup.jsonl'), 'utf8')).not.toContain('uncompressedBytes');
    }
    expect(privateFiles(cold, 'pins').filter((name) => !name.includes(String(process.pid)))).toEqual([]);
  });

  test('does not take for its own what was changed in the one before', async () => {
    const destination = await newDestination('changed');
    const [first] = await backup(destination);
    await appendFile(join(first, 'cold', 'one.parquet'), 'x');
    await rm(join(first, 'cold', 'brief.parquet'));
    const [second] = await backup(destination);
    await writeFile(join(second, 'backup.jsonl'), '{"kind":"head","listing":1}\n{"kind":"fr');
    const [third, line] = await backup(destination);
    expect(line).not.toContain(', 0 B of it');
    expect((await command('verify', '--data-dir', third)).stdout).toContain(': 5 sound, 0 damaged');
  });

  test('removes old ones where so many are to stay, and what a killed one has left', async () => {
    const destination = await newDestination('kept');
    for (const name of ['2020-01-01T000000Z.partial', '2020-01-02T000000Z.removed']) {
      await mkdir(join(destination, name, 'cold'), { recursive: true });
    }
    await writeFile(join(destination, 'notes.txt'), 'not ours');
    const [first] = await backup(destination);
    const [second] = await backup(destination);
    const [third, line] = await backup(destination, '--keep', '2');
    expect(line).toContain(', 1 old backup removed, ');
    const left = (await readdir(destination)).map((name) => join(destination, name)).sort();
    expect(left).toEqual([second, third, join(destination, 'notes.txt')].sort());
    expect(left).not.toContain(first);
  });

  test('counts no incomplete backup as one of those that stay, and removes it when it is older than those', async () => {
    const destination = await newDestination('incomplete');
    const paths: string[] = [];
    for (let count = 0; count < 3; count++) paths.push((await backup(destination))[0]);
    const [first = '', second = '', third = ''] = paths;
    const left = async () =>
      (await readdir(destination))
        .filter((name) => name.endsWith('Z'))
        .map((name) => join(destination, name))
        .sort();
    const markIncomplete = async (path: string, leftOut: readonly object[]) => {
      const listing = join(path, 'backup.jsonl');
      const lines = (await readFile(listing, 'utf8')).trimEnd().split('\n');
      const end = { ...JSON.parse(lines.pop() ?? ''), leftOut };
      await writeFile(listing, `${[...lines, JSON.stringify(end)].join('\n')}\n`);
    };
    await markIncomplete(first, [{ tenant: 'default', handle: 'gone', reason: 'its files are missing' }]);
    // So many that the line is longer than a block.
    const many = Array.from({ length: 3000 }, (_, at) => ({
      tenant: 'default',
      handle: `f${at}`,
      reason: 'unreadable',
    }));
    await markIncomplete(third, many);
    const [fourth, line] = await backup(destination, '--keep', '2');
    expect(line).toContain(', 1 old backup removed, ');
    expect(await left()).toEqual([second, third, fourth]);
    // Without an end it cannot be restored.
    await truncate(join(fourth, 'backup.jsonl'), (await stat(join(fourth, 'backup.jsonl'))).size - 5);
    const [fifth] = await backup(destination, '--keep', '2');
    expect(await left()).toEqual([second, third, fourth, fifth]);
    const [sixth] = await backup(destination, '--keep', '2');
    expect(await left()).toEqual([fifth, sixth]);
  });

  test('does not remove what it has just made, also where the clock was put back', async () => {
    const destination = await newDestination('later');
    const [first] = await backup(destination);
    const later = join(destination, '2999-01-01T000000Z');
    await rename(first, later);
    const [second] = await backup(destination, '--keep', '1');
    expect((await readdir(destination)).map((name) => join(destination, name)).sort()).toEqual([second, later]);
  });

  test('is refused with one line where it cannot be made', async () => {
    const file = join(directory.path, 'a-file');
    await writeFile(file, '');
    const lines: Readonly<Record<string, string>> = {
      [join(cold, 'backups')]:
        `the destination ${cold}/backups lies in ${dataDir}, which is to be backed up; name a folder elsewhere, best on another disk`,
      [file]: `the destination ${file} is a file; name a folder`,
      [join(directory.path, 'not', 'mounted')]:
        `there is no folder ${directory.path}/not for the destination mounted; make it, or mount the disk on which it lies`,
    };
    await Promise.all(
      Object.entries(lines).map(async ([destination, line]) => {
        const { status, stdout, stderr } = await command('backup', destination, '--data-dir', dataDir);
        expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: `framehold: ${line}\n` });
      }),
    );
    expect(await readdir(cold)).not.toContain('backups');
    const nowhere = await command('backup', directory.path, '--data-dir', join(directory.path, 'mistyped'));
    expect(nowhere.stderr).toContain(`there is no directory ${directory.path}/mistyped/cold`);
    expect((await command('backup', file, '--keep', '0')).stderr).toBe(
      'framehold: --keep is "0"; expected a whole number from 1 on, such as 14\n',
    );
    // A variable of the shell that is not set.
    const unset = await Promise.all([command('backup', ''), command('restore', file, '--data-dir', '')]);
    expect(unset.map(({ status, stderr }) => [status, stderr])).toEqual([
      [2, 'framehold: DEST is empty; name a folder\n'],
      [2, 'framehold: --data-dir is empty; name a folder\n'],
    ]);
  });

  test('waits for no other one to the same destination', async () => {
    const destination = await newDestination('busy');
    const lock = await takeExclusiveFile(join(destination, '.backup.lock'), new DurableFiles());
    if (lock.kind !== 'held') throw new Error('it is free');
    const { status, stderr } = await command('backup', destination, '--data-dir', dataDir);
    await lock[Symbol.asyncDispose]();
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `framehold: another backup to ${destination} is under way (process ${process.pid}); try again when it is done\n`,
    });
  });

  test('leaves nothing where a signal stops it', async () => {
    const destination = await newDestination('stopped');
    const { child, result } = spawnCommand(['backup', destination, '--data-dir', dataDir], { cwd: directory.path });
    while ((await readdir(destination)).length === 0 && child.exitCode === null) await new Promise(setImmediate);
    child.kill('SIGTERM');
    const { status } = await result;
    const left = await readdir(destination);
    // It may have been done already.
    if (status !== 0) expect(left).toEqual([]);
    else expect(left).toHaveLength(1);
  });
});

describe('what is damaged', () => {
  test('in the directory is named, all else is in the backup, and no old backup goes for it', async () => {
    const [source, destination] = [join(directory.path, 'sick'), await newDestination('of-the-sick')];
    await cp(dataDir, source, { recursive: true });
    {
      // It takes the copies for its own.
      await using copy = await startFramehold({ dataDir: source, settings });
      for (const handle of ['one', 'two', 'parts', 'logged']) await ask(`${copy.url}/exp?handle=${handle}`);
    }
    const run = (...flags: string[]) => command('backup', destination, '--data-dir', source, ...flags);
    expect((await run()).status).toBe(0);
    await flip(join(source, 'cold', 'one.parquet'));
    // The server may have merged them.
    const [part = ''] = await readdir(join(source, 'cold', 'parts'));
    await rm(join(source, 'cold', 'parts', part));
    await writeFile(join(source, 'cold', 'torn.parquet'), 'PAR1 and no end');
    const logs = join(source, 'cold', '.framehold', 'logs', 'logged');
    for (const name of await readdir(logs).catch(() => [])) await flip(join(logs, name));
    await rm(join(source, 'cold', 'brief.parquet'));

    const { status, stdout } = await run('--keep', '1');
    expect(status).toBe(1);
    // Its bytes are in the backup before.
    expect(stdout).not.toContain('damaged  one');
    expect(stdout).toContain('damaged  brief: its files are missing\n');
    expect(stdout).toContain('damaged  torn: torn.parquet: it does not begin and end as a Parquet file does\n');
    expect(stdout).toMatch(/, \d damaged and left out, no old backup removed, /);
    expect((await readdir(destination)).length).toBe(2);
    const restored = join(directory.path, 'from-incomplete');
    const result = await command('restore', destination, '--data-dir', restored);
    expect(result.status).toBe(1);
    expect(result.stdout).toContain('left out of the backup  brief: its files are missing\n');
    expect(result.stdout).toMatch(/, \d left out of the backup, [\d.]+ m?s\n$/);
    const anew = await newDestination('of-the-sick-anew');
    expect((await command('backup', anew, '--data-dir', source)).stdout).toContain(
      'damaged  one: one.parquet: its bytes are not those that were written\n',
    );
  });

  test('in a backup is named by its restore, which brings back all else', async () => {
    const destination = await newDestination('rotten');
    const [path] = await backup(destination);
    await flip(join(path, 'cold', 'one.parquet'));
    await rm(join(path, 'cold', 'parts', '000001.parquet'));
    await writeFile(join(path, 'cold', '.framehold', 'manifests', 'brief.json'), '{}');
    const restored = join(directory.path, 'from-rotten');
    const { status, stdout } = await command('restore', path, '--data-dir', restored);
    expect(status).toBe(1);
    expect(stdout.split('\n').slice(0, 3).sort()).toEqual([
      'damaged  brief: cold/.framehold/manifests/brief.json: its bytes are not those that were written',
      'damaged  one: cold/one.parquet: its bytes are not those that were written',
      'damaged  parts: cold/parts/000001.parquet: it is missing',
    ]);
    expect((await command('verify', '--data-dir', restored)).stdout).toContain(': 2 sound, 0 damaged');
    const listing = await readFile(join(path, 'backup.jsonl'), 'utf8');
    for (const [text, reason] of [
      [listing.replace('one.parquet', 'two.parquet'), 'its bytes are not those that were written'],
      [listing.slice(0, listing.lastIndexOf('\n{') + 1), 'it has no end'],
      [listing.slice(0, -20), 'its last line is cut off'],
    ] as const) {
      await writeFile(join(path, 'backup.jsonl'), text);
      const refused = await command('restore', path, '--data-dir', join(directory.path, 'never'));
      expect(refused.stderr).toContain(`${path}/backup.jsonl cannot be used: ${reason}; restore another backup`);
    }
  });
});

test('a restore is refused where something is already, and where there is no backup', async () => {
  const destination = await newDestination('for-restore');
  const [path] = await backup(destination);
  const empty = await newDestination('empty');
  const linesOf = async (...argv: string[]) => (await command('restore', ...argv)).stderr;
  expect(await linesOf(path, '--data-dir', dataDir)).toContain(`${cold} is there and not empty; name another`);
  expect(await linesOf(empty, '--data-dir', join(empty, 'd'))).toContain(`${empty} is no backup and has none in it`);
  expect(await linesOf(join(empty, 'no'), '--data-dir', empty)).toContain(`there is no folder ${empty}/no`);
  await writeFile(join(empty, 'analytics.duckdb'), 'mine');
  expect(await linesOf(path, '--data-dir', empty)).toContain(
    `${empty}/analytics.duckdb is there, and the backup has one`,
  );
  expect(await readdir(empty)).toEqual(['analytics.duckdb']);
});

test('a directory that no server has seen is backed up as it is: files from outside, links, access records', async () => {
  const [source, destination] = [join(directory.path, 'untouched'), await newDestination('of-untouched')];
  const files = join(source, 'cold');
  await mkdir(join(files, 'folder'), { recursive: true });
  await cp(join(cold, 'one.parquet'), join(files, 'outside.parquet'));
  await cp(join(cold, 'one.parquet'), join(files, 'folder', 'a.parquet'));
  await cp(join(cold, 'one.parquet'), join(directory.path, 'elsewhere.parquet'));
  await symlink(join(directory.path, 'elsewhere.parquet'), join(files, 'linked.parquet'));
  await writeFile(join(files, 'notes.txt'), 'no frame');
  await command('token', 'create', '--role', 'operator', '--name', 'me', '--data-dir', source);
  const access = join(files, '.framehold', 'access');
  await chmod(access, 0o700);
  await chmod(source, 0o750);
  const run = () => command('backup', destination, '--data-dir', source);
  const [path = ''] = (await run()).stdout.split(': ');
  expect((await stat(join(path, 'cold', '.framehold', 'access'))).mode & 0o777).toBe(0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(path, 'cold', 'linked.parquet'))).isFile()).toBe(true);
  const [again = '', line] = (await run()).stdout.split(': ');
  expect(line).toMatch(/^3 frames, /);
  for (const file of ['outside.parquet', 'folder/a.parquet', 'linked.parquet']) {
    expect(await inode(join(again, 'cold', file))).toBe(await inode(join(path, 'cold', file)));
  }
  const restored = join(directory.path, 'of-untouched-restored');
  expect((await command('restore', again, '--data-dir', restored)).status).toBe(0);
  expect((await stat(join(restored, 'cold', '.framehold', 'access'))).mode & 0o777).toBe(0o700);
  expect((await readdir(join(restored, 'cold', '.framehold', 'access', 'tokens'))).length).toBe(1);
  await using copy = await startFramehold({ dataDir: restored, settings });
  const expected = (await ask(`${server.url}/exp?handle=one`)).text;
  for (const handle of ['outside', 'folder', 'linked']) {
    await expect.poll(async () => (await ask(`${copy.url}/exp?handle=${handle}`)).text).toBe(expected);
  }
});

test('a copied directory that no server has seen keeps versions and logs, and no earlier bytes stand in for changed ones', async () => {
  const [source, destination] = [join(directory.path, 'moved'), await newDestination('of-moved')];
  await cp(dataDir, source, { recursive: true });
  await rm(join(source, 'cold', '.framehold', 'leases'), { recursive: true });
  const run = () => command('backup', destination, '--data-dir', source);
  const [path = ''] = (await run()).stdout.split(': ');
  expect((await command('verify', '--data-dir', path)).stdout).toContain(': 5 sound, 0 damaged');
  const changed = join(source, 'cold', 'one.parquet');
  await writeFile(changed, Buffer.alloc((await stat(changed)).size, 'PAR1'));
  const { status, stdout } = await run();
  expect(status).toBe(1);
  expect(stdout).toMatch(/^damaged {2}one: one\.parquet: its bytes are not those that were written\n.*: 4 frames, /);
});

test('an analytics database that is being written is named, and all else is in the backup', async () => {
  const [source, destination] = [join(directory.path, 'busy-analytics'), await newDestination('of-busy')];
  await mkdir(join(source, 'cold'), { recursive: true });
  const path = join(source, 'analytics.duckdb');
  await writeFile(path, '');
  // So large that its copy takes longer than writers wait for their turn.
  await truncate(path, 64_000_000);
  const loop = 'for (;;) fs.appendFileSync(process.argv[1], "x")';
  const writers = [1, 2].map(() => spawn(process.execPath, ['-e', loop, path]));
  await soon(async () => expect((await stat(path)).size).toBeGreaterThan(64_000_000));
  const { status, stdout } = await command('backup', destination, '--data-dir', source);
  for (const writer of writers) writer.kill('SIGKILL');
  expect(status).toBe(1);
  expect(stdout).toContain('damaged  analytics.duckdb is being written; stop the program that writes it');
});

test('the log of an analytics database may go while the database is copied', async () => {
  const [source, destination] = [join(directory.path, 'ending-analytics'), await newDestination('of-ending')];
  const path = join(source, 'analytics.duckdb');
  await mkdir(join(source, 'cold'), { recursive: true });
  await writeFile(path, '');
  await truncate(path, 30_000_000);
  await writeFile(`${path}.wal`, 'its log');
  const { result } = spawnCommand(['backup', destination, '--data-dir', source], { cwd: directory.path });
  const copied = async () => (await readdir(destination, { recursive: true })).join();
  while (!(await copied()).includes('.partial/analytics.duckdb')) await new Promise(setImmediate);
  await rm(`${path}.wal`);
  const { status, stdout, stderr } = await result;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect((await readdir(stdout.split(': ')[0] ?? '')).sort()).toEqual(['analytics.duckdb', 'backup.jsonl', 'cold']);
});

describe.skipIf(leftOutWithoutMount())('on a small disk', () => {
  test('a destination that is full is told so, loses no earlier backup, and is given its room back', async () => {
    await using disk = await smallDisk({ bytes: 30_000_000 });
    const [first] = await backup(disk.path);
    const free = await disk.freeBytes();
    await putSql(server.frames, 'large', 'SELECT md5(range::VARCHAR) AS text FROM range(200_000)');
    await disk.leave(1_000_000);
    const { status, stdout, stderr } = await command('backup', disk.path, '--data-dir', dataDir);
    await ask(`${server.url}/handles/large`, { method: 'DELETE' });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `framehold: the destination ${disk.path} is full; make room there; earlier backups are as they were, and nothing is left of this one\n`,
    });
    disk.makeRoom();
    expect(await disk.freeBytes()).toBe(free);
    expect((await command('verify', '--data-dir', first)).stdout).toContain(' sound, 0 damaged');
  });

  test('a directory that cannot be written is backed up', async () => {
    await using disk = await smallDisk({ bytes: 30_000_000 });
    const restored = join(disk.path, 'data');
    const [path] = await backup(await newDestination('before-read-only'));
    expect((await command('restore', path, '--data-dir', restored)).status).toBe(0);
    disk.remount('ro');
    const destination = await newDestination('of-read-only');
    const { status, stdout, stderr } = await command('backup', destination, '--data-dir', restored);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect((await command('verify', '--data-dir', stdout.split(': ')[0] ?? '')).stdout).toContain(' sound, 0 damaged');
  });
});
