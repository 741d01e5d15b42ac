import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logs/logger.ts';
import { repairDirectory } from '../../src/frames/upkeep/repair-directory.ts';
import { duckDbEngine } from '../support/duckdb-engine.ts';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { soon } from '../support/soon.ts';
import { runCommand } from '../support/spawned-command.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const settings = { 'compression.level': '1' };

async function flip(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
  await file.close();
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test('framehold verify --repair drops what can be made again, makes what it can, and names what is lost', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  const cold = join(dataDir, 'cold');
  const verify = (...flags: string[]) =>
    runCommand(['verify', '--data-dir', dataDir, ...flags], { cwd: directory.path });
  {
    await using server = await startFramehold({ dataDir, settings });
    for (const handle of ['sound', 'torn', 'unknown', 'unlogged', 'logless']) {
      await putSql(server.frames, handle, 'SELECT range AS id FROM range(10_000)', { ttlMs: 3_600_000 });
    }
    for (const handle of ['unlogged', 'logless']) {
      await ask(`${server.url}/imp?name=${handle}&append=true`, { method: 'POST', body: 'id\n1\n' });
    }
    // A page that is read often enough is kept on disk.
    for (let read = 0; read < 3; read++) await ask(`${server.url}/exec?handle=sound&fmt=json&limit=10`);
    const beside = await verify('--repair');
    expect({ status: beside.status, stdout: beside.stdout }).toEqual({ status: 1, stdout: '' });
    expect(beside.stderr).toMatch(
      /^framehold: a server or a backup runs on .*cold \(process \S+\); stop it, then repair; "framehold verify" without --repair is safe beside it\n$/,
    );
  }
  // What a killed server leaves.
  {
    await using server = await spawnFramehold({ dataDir });
    await ask(`${server.url}/exp?handle=sound`);
    await ask(`${server.url}/imp?name=unlogged&append=true`, { method: 'POST', body: 'id\n2\n' });
    await ask(`${server.url}/imp?name=logless&append=true`, { method: 'POST', body: 'id\n2\n' });
    server.kill('SIGKILL');
    await server.exited;
  }
  const manifests = join(cold, '.framehold', 'manifests');
  for (const handle of ['unknown', 'unlogged']) await writeFile(join(manifests, `${handle}.json`), 'torn');
  await flip(join(cold, 'torn.parquet'), 2000);
  const logs = await filesBelow(join(cold, '.framehold', 'logs', 'logless'));
  for (const log of logs) await flip(log, 10);
  const chunk = join(dataDir, 'cache', 'content', '0.10');
  await mkdir(join(dataDir, 'cache', 'content'), { recursive: true });
  await writeFile(chunk, 'no chunk!!');
  await mkdir(join(dataDir, 'spill', '999999999-left'), { recursive: true });

  const { status, stdout } = await verify('--repair');
  const lines = stdout.split('\n');
  expect(status).toBe(1);
  expect(lines).toContain(
    'adopted  unknown: its manifest was not readable; it has a new one made of its files, without a time to live',
  );
  expect(lines).toContain('removed  1 damaged file of the disk cache');
  expect(stdout).toMatch(/^removed {2}\d+ files? that processes had left$/m);
  const advice = (handle: string) => `; restore it from a backup, or drop it: framehold rm ${handle}`;
  expect(lines).toContain(
    `damaged  unlogged: its manifest is not readable, and rows of it may be in its log${advice('unlogged')}`,
  );
  expect(stdout).toMatch(/^damaged {2}logless: the log .* has no readable beginning; restore it from a backup/m);
  expect(lines.at(-2)).toMatch(/ damaged$/);
  for (const folder of ['tmp', 'pins', 'locks', 'leases']) {
    expect(await filesBelow(join(cold, '.framehold', folder))).toEqual([]);
  }
  expect(await readdir(join(dataDir, 'spill'))).toEqual([]);
  expect(await readdir(join(dataDir, 'cache', 'content'))).toEqual([]);
  // No frame went, and the same is lost the next time.
  for (const handle of ['sound', 'torn', 'unknown', 'unlogged', 'logless']) {
    expect((await readFile(join(cold, `${handle}.parquet`))).length).toBeGreaterThan(1000);
  }
  const again = await verify('--repair');
  expect(again.stdout.split('\n').filter((line) => line.startsWith('damaged'))).toEqual(
    lines.filter((line) => line.startsWith('damaged')),
  );
  expect(again.stdout).not.toContain('removed');

  await using server = await startFramehold({ dataDir, settings });
  for (const handle of ['sound', 'unknown']) {
    expect((await ask(`${server.url}/handles/${handle}`)).json()).toMatchObject({ rows: 10_000 });
  }
  for (const handle of ['unlogged', 'logless']) {
    await soon(async () =>
      expect((await ask(`${server.url}/exec?handle=${handle}&fmt=json`)).json()).toMatchObject({
        code: 'frame_damaged',
      }),
    );
  }
});

test('framehold verify --repair of a sound directory says so and ends with 0', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  {
    await using server = await startFramehold({ dataDir, settings });
    await putSql(server.frames, 'one', 'SELECT 1 AS id');
  }
  const repair = () => runCommand(['verify', '--repair', '--data-dir', dataDir], { cwd: directory.path });
  const sum = `${join(dataDir, 'cold')}: 1 sound, 0 damaged\n`;
  expect(await repair()).toMatchObject({ status: 0, stdout: sum, stderr: '' });
  await rm(dataDir, { recursive: true });
  const mistyped = await repair();
  expect([mistyped.status, mistyped.stderr]).toEqual([
    1,
    `framehold: there is no directory ${join(dataDir, 'cold')}; name the data directory with --data-dir, or the cold directory with --parquet-path\n`,
  ]);
});

test('a repair is refused when a server is started after its first look', async () => {
  await using directory = await temporaryDirectory();
  await using _ = await startFramehold({ dataDir: directory.path, settings });
  await using engine = duckDbEngine(directory.path);
  const cold = join(directory.path, 'cold');
  const { signal } = new AbortController();
  await expect(repairDirectory(cold, { engine, logger: silentLogger, signal })).rejects.toThrow(
    `a server or a backup was started on ${cold} meanwhile`,
  );
});
