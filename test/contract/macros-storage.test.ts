import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/frame-store.ts';
import { startFramehold } from '../support/framehold.ts';
import { postSql } from '../support/post-sql.ts';
import { runCommand } from '../support/spawned-command.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function rows(url: string, sql: string): Promise<unknown> {
  const answer = await postSql(url, sql);
  return answer.status === 200 ? answer.json().dataset : answer.json();
}

test('macros and types survive a restart, and come back from a backup', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  {
    await using server = await startFramehold({ dataDir });
    for (const sql of [
      'CREATE TABLE base AS SELECT range AS a FROM range(10)',
      'CREATE MACRO twice(x) AS x * 2',
      'CREATE MACRO doubled() AS TABLE SELECT twice(a) AS b FROM base',
      "CREATE TYPE mood AS ENUM ('sad', 'ok')",
      'CREATE MACRO dropped() AS 1',
      'DROP MACRO dropped',
    ])
      expect((await postSql(server.url, sql)).status).toBe(200);
  }
  const all = "SELECT sum(b)::INT, max('ok'::mood) FROM doubled()";
  {
    await using server = await startFramehold({ dataDir });
    expect(await rows(server.url, all)).toEqual([[90, 'ok']]);
    expect(await rows(server.url, 'SELECT dropped()')).toMatchObject({ code: 'sql_error' });
  }
  const backups = join(directory.path, 'backups');
  const made = await runCommand(['backup', backups, '--data-dir', dataDir], { cwd: directory.path });
  expect([made.status, made.stderr]).toEqual([0, expect.anything()]);
  const restored = join(directory.path, 'restored');
  const result = await runCommand(['restore', backups, '--data-dir', restored], { cwd: directory.path });
  expect([result.status, result.stdout + result.stderr]).toEqual([0, expect.stringContaining('1 frame')]);
  await using server = await startFramehold({ dataDir: restored });
  expect(await rows(server.url, all)).toEqual([[90, 'ok']]);
  expect((await postSql(server.url, 'CREATE OR REPLACE MACRO twice(x) AS x * 3')).status).toBe(200);
});

test('one whose file was changed from outside is none, and can be made anew', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  {
    await using server = await startFramehold({ dataDir });
    for (const name of ['forged', 'whole']) await postSql(server.url, `CREATE MACRO ${name}() AS 'harmless'`);
  }
  const path = join(dataDir, 'cold', '.framehold', 'definitions', 'macro.forged.json');
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll('harmless', 'harmful!'));
  await using server = await startFramehold({ dataDir });
  expect(await rows(server.url, 'SELECT whole()')).toEqual([['harmless']]);
  expect(await rows(server.url, 'SELECT forged()')).toMatchObject({ error: 'function forged does not exist' });
  expect((await postSql(server.url, 'CREATE MACRO forged() AS 1')).status).toBe(200);
  expect(await rows(server.url, 'SELECT forged()')).toEqual([[1]]);
});

test('two servers of one directory see the same macros, and a name is taken once', async () => {
  await using directory = await temporaryDirectory();
  const settings = { 'storage.parquet_path': join(directory.path, 'cold') };
  await using a = await startFramehold({ dataDir: join(directory.path, 'a'), settings });
  await using b = await startFramehold({ dataDir: join(directory.path, 'b'), settings });
  expect((await postSql(a.url, 'CREATE MACRO one() AS 1')).status).toBe(200);
  await eventually(async () => (await postSql(b.url, 'SELECT one()')).status === 200, 3000);
  expect((await postSql(b.url, 'CREATE OR REPLACE MACRO one() AS 2')).status).toBe(200);
  await eventually(async () => JSON.stringify(await rows(a.url, 'SELECT one()')) === '[[2]]', 3000);
  expect((await postSql(b.url, 'DROP MACRO one')).status).toBe(200);
  await eventually(async () => (await postSql(a.url, 'SELECT one()')).status === 400, 3000);
  for (let turn = 0; turn < 8; turn++) {
    const answers = await Promise.all([a, b].map(({ url }) => postSql(url, `CREATE MACRO same${turn}() AS 1`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  }
});

test('a macro that is replaced while its server is killed is one of those that were sent', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  let acknowledged = 0;
  {
    await using server = await spawnFramehold({ dataDir });
    const sent = (async () => {
      for (let number = 1; number < 1000; number++) {
        const { status } = await postSql(server.url, `CREATE OR REPLACE MACRO n() AS ${number}`);
        if (status === 200) acknowledged = number;
      }
    })().catch(() => {});
    await eventually(async () => acknowledged > 20, 20_000);
    server.kill('SIGKILL');
    await sent;
    await server.exited;
  }
  await using server = await startFramehold({ dataDir });
  const [[number = 0] = []] = (await rows(server.url, 'SELECT n()')) as number[][];
  expect([acknowledged, acknowledged + 1]).toContain(number);
  const left = await readdir(join(dataDir, 'cold', '.framehold', 'definitions'));
  expect(left.filter((name) => name.endsWith('.json'))).toEqual(['macro.n.json']);
});
