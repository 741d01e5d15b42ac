import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const random = (rows: number): string => `SELECT md5(range::VARCHAR) AS text FROM range(${rows})`;
const count = async (server: Framehold, handle: string) =>
  (await ask(`${server.url}/exec?handle=${handle}&fmt=json&limit=1000000`)).json().count;

const cannotMount = leftOutWithoutMount();

describe.skipIf(cannotMount)('a full disk', () => {
  let directory: TemporaryDirectory | undefined;
  afterEach(async () => {
    if (directory === undefined) return;
    execFileSync('umount', ['--lazy', directory.path]);
    await directory[Symbol.asyncDispose]();
    directory = undefined;
  });

  test('fails the put that finds no room, leaves nothing of it, and hinders nothing else', async () => {
    directory = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', directory.path]);
    await using server = await startFramehold({ dataDir: directory.path });
    await putSql(server.frames, 'kept', random(1000));
    for (const mode of ['create', 'overwrite', 'append'] as const) {
      const handle = mode === 'create' ? 'big' : 'kept';
      await expect(putSql(server.frames, handle, random(1_000_000), { mode })).rejects.toMatchObject({
        code: 'storage_full',
      });
    }
    expect(await readdir(join(directory.path, 'cold', '.framehold', 'tmp'))).toEqual([]);
    expect((await ask(`${server.url}/exec?handle=big&fmt=json`)).status).toBe(404);
    expect(await count(server, 'kept')).toBe(1000);

    await putSql(server.frames, 'next', random(1000));
    expect(await count(server, 'next')).toBe(1000);
  });

  test('fails puts at every amount of room that is left, and never shows half a frame', async () => {
    directory = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory.path]);
    await using server = await startFramehold({ dataDir: directory.path });
    await putSql(server.frames, 'kept', random(2000));
    let refused = 0;
    for (let leftKb = 0; leftKb <= 160; leftKb += 8) {
      const filler = join(directory.path, 'filler');
      await fill(filler, directory.path, leftKb);
      const handle = `try${leftKb}`;
      const outcome = await putSql(server.frames, handle, random(2000)).then(
        () => 'held',
        (error: { code: string }) => error.code,
      );
      await rm(filler, { force: true });
      const status = (await ask(`${server.url}/exec?handle=${handle}&fmt=json`)).status;
      if (outcome === 'held') expect([status, await count(server, handle)]).toEqual([200, 2000]);
      else expect([outcome, status]).toEqual(['storage_full', 404]);
      if (outcome !== 'held') refused++;
      expect(await count(server, 'kept')).toBe(2000);
    }
    expect(refused).toBeGreaterThan(3);
  });
});

test.skipIf(cannotMount)('a read-only directory serves what it holds and refuses writes', async () => {
  await using directory = await temporaryDirectory();
  {
    await using server = await startFramehold({ dataDir: directory.path });
    await putSql(server.frames, 'kept', random(10));
  }
  execFileSync('mount', ['--bind', directory.path, directory.path]);
  execFileSync('mount', ['-o', 'remount,ro,bind', directory.path]);
  try {
    await using server = await startFramehold({ dataDir: directory.path });
    expect(await count(server, 'kept')).toBe(10);
    await expect(putSql(server.frames, 'new', random(10))).rejects.toMatchObject({ code: 'storage_read_only' });
    expect(await count(server, 'kept')).toBe(10);
  } finally {
    execFileSync('umount', ['--lazy', directory.path]);
  }
});

test('what an earlier process left half-written is swept, and no frame comes of it', async () => {
  await using directory = await temporaryDirectory();
  const folder = join(directory.path, 'cold', '.framehold', 'tmp');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'OLDOLD00-1234567890123456.parquet'), 'PAR1 half');
  await using server = await startFramehold({ dataDir: directory.path });
  await putSql(server.frames, 'kept', random(10));
  expect(await readdir(folder)).toEqual([]);
  expect((await ask(`${server.url}/exec?handle=kept&fmt=json`)).json()).toMatchObject({ count: 10 });
});

/** Takes all room but so much. */
async function fill(path: string, mount: string, leftKb: number): Promise<void> {
  const available = Number(execFileSync('df', ['--output=avail', '-k', mount], { encoding: 'utf8' }).split('\n')[1]);
  await writeFile(path, Buffer.alloc(Math.max(0, available - leftKb) * 1024));
}
