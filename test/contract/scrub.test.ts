import { execFileSync } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { runCommand } from '../support/spawned-command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const settings = { 'frames.scrub_interval': '1s', 'compression.level': '1' };
const handles = ['a', 'b', 'c'];

let directory: TemporaryDirectory;
let server: Framehold;
beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await startFramehold({ dataDir: directory.path, settings });
  for (const name of handles) await put(name);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const put = (name: string, how = '') =>
  ask(`${server.url}/imp?name=${name}${how}`, {
    method: 'POST',
    body: `id,text\n${Array.from({ length: 20_000 }, (_, id) => `${id},${id * 7919}`).join('\n')}\n`,
  });
const damagedOf = async (name: string): Promise<unknown> => (await ask(`${server.url}/handles/${name}`)).json().damaged;

async function figure(name: string): Promise<number | undefined> {
  const { text } = await ask(`${server.url}/metrics`);
  const found = new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Two bytes change, and no time of the file does but that of its inode. */
async function damage(name: string): Promise<void> {
  const path = join(directory.path, 'cold', `${name}.parquet`);
  const times = join(directory.path, 'times');
  execFileSync('touch', ['-r', path, times]);
  const file = await open(path, 'r+');
  await file.write(Buffer.from([1, 2]), 0, 2, 1000);
  await file.sync();
  await file.close();
  execFileSync('touch', ['-r', times, path]);
}

const soon = { timeout: 40_000, interval: 50 };

test('sound frames are told of with the time of the last pass, which the next server knows as well', async () => {
  await expect.poll(() => figure('framehold_scrub_last_success_seconds'), soon).toBeGreaterThan(Date.now() / 1000 - 60);
  expect(await figure('framehold_frames_damaged')).toBe(0);
  const noted = JSON.parse(
    (await readFile(join(directory.path, 'cold', '.framehold', 'scrub.json'), 'utf8')).split('\n')[0] ?? '',
  );
  expect(noted.endedAt / 1000).toBeLessThanOrEqual((await figure('framehold_scrub_last_success_seconds')) ?? 0);
  await using other = await startFramehold({ dataDir: directory.path, settings: { 'frames.scrub_interval': '1h' } });
  const { text } = await ask(`${other.url}/metrics`);
  expect(text).toMatch(/^framehold_scrub_last_success_seconds \d/m);
});

test('a frame whose bytes change on the disk is found without a read, and told everywhere', {
  timeout: 90_000,
}, async () => {
  // Files that are still compressed are written anew.
  await expect.poll(() => figure('framehold_rewrites_waiting'), soon).toBe(0);
  await damage('a');
  await expect.poll(() => damagedOf('a'), soon).toContain('its bytes are not those that were written');
  expect(await figure('framehold_frames_damaged')).toBe(1);
  expect(server.log()).toMatch(/"level":"error".*"a frame is damaged","handle":"a"/);
  const [held, broken] = await Promise.all(
    ['held', 'damaged'].map(async (state) => (await ask(`${server.url}/handles?state=${state}`)).json()),
  );
  expect(JSON.stringify(broken)).toContain('"handle":"a"');
  expect(JSON.stringify(held)).not.toContain('"handle":"a"');
  const verified = await runCommand(['verify', '--data-dir', directory.path], { cwd: directory.path });
  expect(verified.stdout).toContain('2 sound, 1 damaged');
  const last = await figure('framehold_scrub_last_success_seconds');
  expect(await put('a', '&overwrite=true')).toMatchObject({ status: 200 });
  expect(await figure('framehold_frames_damaged')).toBe(0);
  await expect.poll(() => figure('framehold_scrub_last_success_seconds'), soon).toBeGreaterThan(last ?? 0);
});

test('frames that are overwritten, appended to and dropped while they are read are never taken for damaged', async () => {
  const first = (await figure('framehold_scrub_last_success_seconds')) ?? 0;
  let rounds = 0;
  const isOver = async (): Promise<boolean> =>
    ((await figure('framehold_scrub_last_success_seconds')) ?? 0) > first + 2;
  do {
    await Promise.all([put('b', '&overwrite=true'), put('c', '&append=true'), put('d')]);
    await ask(`${server.url}/handles/d`, { method: 'DELETE' });
    rounds++;
  } while (rounds < 3 || !(await isOver()));
  expect(await figure('framehold_frames_damaged')).toBe(0);
  for (const name of ['a', 'b', 'c']) expect(await damagedOf(name)).toBe(null);
  expect(server.log()).not.toMatch(/could not be scrubbed|scrubbing stopped/);
});
