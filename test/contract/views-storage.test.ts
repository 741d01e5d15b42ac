import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../support/frame-store.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { postSql } from '../support/post-sql.ts';
import { runCommand } from '../support/spawned-command.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function rows(url: string, sql: string): Promise<unknown> {
  const answer = await postSql(url, sql);
  return answer.status === 200 ? answer.json().dataset : answer.json();
}

test('framehold verify names the views, macros and types whose files are damaged, which can be made anew', async () => {
  await using directory = await temporaryDirectory();
  const made = ['CREATE VIEW v AS SELECT 1 AS a', 'CREATE MACRO twice(n) AS 2 * n', 'CREATE MACRO sound(n) AS n'];
  {
    await using server = await startFramehold({ dataDir: directory.path });
    for (const sql of made) expect((await postSql(server.url, sql)).status).toBe(200);
  }
  const records = join(directory.path, 'cold', '.framehold');
  for (const file of ['manifests/v.json', 'definitions/macro.twice.json']) {
    const path = join(records, file);
    await writeFile(path, (await readFile(path, 'utf8')).replace('SELECT 1', 'SELECT 7').replace('"2 *', '"3 *'));
  }
  const verified = await runCommand(['verify', '--data-dir', directory.path], { cwd: directory.path });
  expect(verified.status).toBe(1);
  expect(verified.stdout.split('\n')).toEqual([
    'damaged  v: its manifest is not readable, and it has no files',
    'damaged  macro.twice: its file holds no macro or type; create it again',
    expect.stringMatching(/: 0 sound, 2 damaged$/),
    '',
  ]);
  await using server = await startFramehold({ dataDir: directory.path });
  for (const sql of made.slice(0, 2)) expect((await postSql(server.url, sql)).status, sql).toBe(200);
  expect(await rows(server.url, 'SELECT twice(a) FROM v')).toEqual([[2]]);
});

test('views survive a restart, are verified, and come back from a backup', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  {
    await using server = await startFramehold({ dataDir });
    for (const sql of [
      'CREATE TABLE base AS SELECT range AS a FROM range(10)',
      'CREATE VIEW v (b) AS SELECT a * 2 FROM base',
      'CREATE VIEW dropped AS SELECT 1 AS a',
      'DROP VIEW dropped',
    ])
      expect((await postSql(server.url, sql)).status).toBe(200);
  }
  {
    await using server = await startFramehold({ dataDir });
    expect(await rows(server.url, 'SELECT sum(b)::INT FROM v')).toEqual([[90]]);
    expect((await ask(`${server.url}/handles/v`)).json()).toMatchObject({ kind: 'view', version: 1 });
    expect((await ask(`${server.url}/handles/dropped`)).status).toBe(410);
    expect(await readdir(join(dataDir, 'cold'))).not.toContain('v.parquet');
  }
  const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: directory.path });
  expect([verified.status, verified.stdout + verified.stderr]).toEqual([0, expect.stringContaining('2')]);
  const backups = join(directory.path, 'backups');
  const made = await runCommand(['backup', backups, '--data-dir', dataDir], { cwd: directory.path });
  expect([made.status, made.stderr]).toEqual([0, expect.anything()]);
  const [backup = ''] = (await readdir(backups)).filter((name) => !name.startsWith('.'));
  const restored = join(directory.path, 'restored');
  const result = await runCommand(['restore', join(backups, backup), '--data-dir', restored], { cwd: directory.path });
  expect([result.status, result.stdout + result.stderr]).toEqual([0, expect.stringContaining('2 frames')]);
  await using server = await startFramehold({ dataDir: restored });
  expect(await rows(server.url, 'SELECT sum(b)::INT FROM v')).toEqual([[90]]);
  expect((await postSql(server.url, 'CREATE OR REPLACE VIEW v AS SELECT 1 AS one')).status).toBe(200);
  expect(await rows(server.url, 'FROM v')).toEqual([[1]]);
});

test('two servers of one directory see the same views, and a handle is taken once', async () => {
  await using directory = await temporaryDirectory();
  const settings = { 'storage.parquet_path': join(directory.path, 'cold') };
  await using a = await startFramehold({ dataDir: join(directory.path, 'a'), settings });
  await using b = await startFramehold({ dataDir: join(directory.path, 'b'), settings });
  await postSql(a.url, 'CREATE TABLE base AS SELECT 1 AS a');
  expect((await postSql(a.url, 'CREATE VIEW v AS SELECT a FROM base')).status).toBe(200);
  await eventually(async () => (await postSql(b.url, 'FROM v')).status === 200, 3000);
  expect((await postSql(b.url, 'CREATE OR REPLACE VIEW v AS SELECT a + 1 AS a FROM base')).status).toBe(200);
  await eventually(async () => JSON.stringify(await rows(a.url, 'FROM v')) === '[[2]]', 3000);
  expect((await postSql(b.url, 'DROP VIEW v')).status).toBe(200);
  await eventually(async () => (await ask(`${a.url}/handles/v`)).status === 410, 3000);
  for (let turn = 0; turn < 8; turn++) {
    const answers = await Promise.all([
      postSql(a.url, `CREATE VIEW both${turn} AS SELECT 1 AS a`),
      postSql(b.url, `CREATE TABLE both${turn} AS SELECT 1 AS a`),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  }
});

test('a view that is replaced while its server is killed is one of those that were sent', async () => {
  await using directory = await temporaryDirectory();
  let acknowledged = 0;
  for (const killAfter of [30, 90, 170]) {
    await using server = await spawnFramehold({ dataDir: directory.path });
    let sent = acknowledged;
    expect((await postSql(server.url, `CREATE OR REPLACE VIEW v AS SELECT ${++sent} AS n`)).status).toBe(200);
    acknowledged = sent;
    const killing = sleep(killAfter).then(() => server.kill('SIGKILL'));
    while (!server.hasExited()) {
      const answer = await postSql(server.url, `CREATE OR REPLACE VIEW v AS SELECT ${++sent} AS n`).catch(
        () => undefined,
      );
      if (answer?.status !== 200) break;
      acknowledged = sent;
    }
    await killing;
    await server.exited;
    await using after = await spawnFramehold({ dataDir: directory.path });
    const answer = await postSql(after.url, 'FROM v');
    const [[held = 0] = []] = answer.json().dataset as number[][];
    expect(held).toBeGreaterThanOrEqual(acknowledged);
    expect(held).toBeLessThanOrEqual(sent);
    acknowledged = held;
  }
});
