import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, open, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

function verify(dataDir: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'verify', '--data-dir', dataDir], (error, output) => {
      resolve({ code: error === null ? 0 : Number(error.code), output });
    });
  });
}

/** Flips one bit in the middle of a file and puts its time of change back. */
async function damage(path: string): Promise<void> {
  const { size } = await stat(path);
  const reference = join(tmpdir(), `times-${basename(dirname(dirname(path)))}`);
  execFileSync('touch', ['--reference', path, reference]);
  await using file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, Math.floor(size / 2));
  byte[0] = (byte[0] as number) ^ 1;
  await file.write(byte, 0, 1, Math.floor(size / 2));
  await file.close();
  // Not by utimes, which rounds: the time of change is compared to the nanosecond.
  execFileSync('touch', ['--reference', reference, path]);
  await rm(reference);
}

test('framehold verify names each damaged frame, also while the server runs', async () => {
  await using directory = await temporaryDirectory();
  // Without recompression, which would find the damage first.
  await using server = await startFramehold({ dataDir: directory.path, settings: { 'compression.level': '1' } });
  const cold = join(directory.path, 'cold');
  for (const handle of ['one', 'two']) await putSql(server.frames, handle, 'SELECT range AS id FROM range(10_000)');
  await putSql(server.frames, 'two', 'SELECT range AS id FROM range(10)', { mode: 'append' });
  expect(await verify(directory.path)).toEqual({ code: 0, output: `${cold}: 2 sound, 0 damaged\n` });

  await cp(join(cold, 'one.parquet'), join(cold, 'outside.parquet'));
  await writeFile(join(cold, 'broken.parquet'), 'this is no Parquet');
  await damage(join(cold, 'two', '000001.parquet'));
  const { code, output } = await verify(directory.path);
  expect(code).toBe(1);
  expect(output).toMatch(/^damaged {2}broken: broken\.parquet: the file cannot be read as Parquet: it is damaged/m);
  expect(output).toMatch(/^damaged {2}two: two\/000001\.parquet: its bytes are not those that were written$/m);
  expect(output).toMatch(/: 1 sound, 1 from outside readable \(no checksum\), 2 damaged\n$/);
});

test('framehold verify holds a copy that keeps times against the checksums of the original', async () => {
  await using directory = await temporaryDirectory();
  const [original, copy] = [join(directory.path, 'original'), join(directory.path, 'copy')];
  {
    await using server = await startFramehold({ dataDir: original, settings: { 'compression.level': '1' } });
    await putSql(server.frames, 'one', 'SELECT range AS id FROM range(10_000)');
  }
  execFileSync('cp', ['--archive', original, copy]);
  expect((await verify(copy)).output).toMatch(/: 1 sound, 0 damaged\n$/);
  await damage(join(copy, 'cold', 'one.parquet'));
  expect(await verify(copy)).toMatchObject({
    code: 1,
    output: expect.stringContaining('damaged  one: one.parquet: its bytes are not those that were written\n'),
  });
});

test('framehold verify counts a frame once, also where a folder has the name of the default tenant', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startFramehold({ dataDir: directory.path });
  await putSql(server.frames, 'one', 'SELECT 1 AS id');
  const cold = join(directory.path, 'cold');
  await mkdir(join(cold, 'tenants', 'default'), { recursive: true });
  expect(await verify(directory.path)).toEqual({ code: 0, output: `${cold}: 1 sound, 0 damaged\n` });
});

test('after a restart a damaged frame is never served, and the others are', async () => {
  await using directory = await temporaryDirectory();
  {
    await using server = await startFramehold({ dataDir: directory.path });
    for (const handle of ['one', 'two']) await putSql(server.frames, handle, 'SELECT range AS id FROM range(10_000)');
  }
  await damage(join(directory.path, 'cold', 'one.parquet'));
  await using server = await startFramehold({ dataDir: directory.path });
  const damaged = await ask(`${server.url}/exec?handle=one&fmt=json`);
  expect([damaged.status, damaged.json().code]).toEqual([500, 'frame_damaged']);
  expect(damaged.text).not.toContain(directory.path);
  expect((await ask(`${server.url}/exec?handle=two&fmt=json`)).json().count).toBe(1000);
});

test('framehold verify says so where there is no such directory', async () => {
  await using directory = await temporaryDirectory();
  expect(await verify(join(directory.path, 'mistyped'))).toEqual({ code: 1, output: '' });
});

test('recompression finds damage rather than giving it a fresh checksum', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startFramehold({ dataDir: directory.path, settings: { 'compression.level': '4' } });
  await putSql(server.frames, 'one', 'SELECT range AS id FROM range(10_000)');
  await damage(join(directory.path, 'cold', 'one.parquet'));
  await vi.waitFor(() => expect(server.log()).toContain('a frame is damaged'), { timeout: 10_000 });
  const answer = await ask(`${server.url}/exec?handle=one&fmt=json&limit=9000,`);
  expect(answer.json().code).toBe('frame_damaged');
});

test('a restored copy keeps versions and checksums, and what was changed in it shows', async () => {
  await using directory = await temporaryDirectory();
  const [original, copy] = [join(directory.path, 'original'), join(directory.path, 'copy')];
  let etag: string | undefined;
  {
    await using server = await startFramehold({ dataDir: original, settings: { 'compression.level': '1' } });
    for (const handle of ['one', 'two']) await putSql(server.frames, handle, 'SELECT range AS id FROM range(10_000)');
    etag = (await ask(`${server.url}/exec?handle=one&fmt=json`)).headers.etag;
  }
  await cp(original, copy, { recursive: true });
  await using server = await startFramehold({ dataDir: copy, settings: { 'compression.level': '1' } });
  expect((await ask(`${server.url}/exec?handle=one&fmt=json`)).headers.etag).toBe(etag);
  await ask(`${server.url}/exec?handle=two&fmt=json`);
  expect((await verify(copy)).output).toContain(': 2 sound, 0 damaged');
  await damage(join(copy, 'cold', 'two.parquet'));
  expect((await verify(copy)).output).toContain(': 1 sound, 1 damaged');
});

test('a link that leads nowhere disturbs nothing', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startFramehold({ dataDir: directory.path });
  await putSql(server.frames, 'one', 'SELECT 1 AS id');
  for (const [name, target] of [
    ['loop', 'loop.parquet'],
    ['nowhere', 'absent.parquet'],
  ]) {
    await symlink(target as string, join(directory.path, 'cold', `${name}.parquet`));
    expect((await ask(`${server.url}/exec?handle=${name}&fmt=json`)).status).toBe(404);
  }
  expect((await verify(directory.path)).output).toContain(': 1 sound, 0 damaged');
});
