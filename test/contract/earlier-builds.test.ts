import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/core/system/make-folder.ts';
import { parseChecksummed, withChecksum } from '../../src/frames/disk/checksummed-json.ts';
import type { Manifest } from '../../src/frames/disk/manifest.ts';
import { identify } from '../../src/frames/disk/tenant-directory.ts';
import { currentFormat } from '../../src/frames/upkeep/directory-format.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { runCommand } from '../support/spawned-command.ts';
import { beginFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const put = (url: string, name: string, rows: string, how = '') =>
  ask(`${url}/imp?name=${name}${how}`, { method: 'POST', body: `n\n${rows}\n` });

/** As the first builds of 0.1.0 append: another part, and a manifest that knows of no lineage. */
async function appendAsFirstBuild(cold: string, handle: string): Promise<void> {
  const path = join(cold, '.framehold', 'manifests', `${handle}.json`);
  const { lineage: _, origin: __, ...before } = parseChecksummed(await readFile(path, 'utf8')) as Manifest;
  const [first] = before.parts;
  const names = ['000001.parquet', '000002.parquet'].map((name) => `${handle}/${name}`);
  await mkdir(join(cold, handle));
  await rename(join(cold, `${handle}.parquet`), join(cold, names[0] as string));
  await copyFile(join(cold, names[0] as string), join(cold, names[1] as string));
  const parts = await Promise.all(
    names.map(async (file) => ({ ...first, file, ...(await identify(join(cold, file))) })),
  );
  const manifest = { ...before, version: before.version + 1, versionId: 'FIRSTBUILD', parts };
  await writeFile(path, withChecksum(manifest));
}

test('rows that a build without logs passed over make a frame damaged, and are still there', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = directory.path;
  const cold = join(dataDir, 'cold');
  {
    await using server = await spawnFramehold({ dataDir });
    for (const name of ['a', 'b', 'c', 'd']) {
      expect((await put(server.url, name, '1\n2')).status).toBe(200);
      expect((await put(server.url, name, '4', '&append=true')).status).toBe(200);
    }
    server.kill('SIGKILL');
    await server.exited;
  }
  for (const handle of ['a', 'c', 'd']) await appendAsFirstBuild(cold, handle);
  const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: dataDir });
  expect(verified.stdout).toMatch(/^damaged {2}a: the log .* has rows that an earlier build .* passed over/m);
  expect(verified.stdout).toContain('1 sound, 3 damaged');
  await rm(join(cold, '.framehold', 'logs', 'd'), { recursive: true });

  await using server = await startFramehold({ dataDir });
  const { url } = server;
  expect((await ask(`${url}/exp?handle=a`)).json()).toMatchObject({ code: 'frame_damaged' });
  expect((await ask(`${url}/handles/a`)).json()).toMatchObject({
    damaged: 'an earlier build of Framehold passed over rows of its log',
  });
  expect(server.log()).toMatch(/"level":"error".*"a frame is damaged","handle":"a"/);
  expect((await put(url, 'a', '6', '&append=true')).json()).toMatchObject({ code: 'frame_damaged' });
  expect(await readdir(join(cold, '.framehold', 'logs', 'a'))).toHaveLength(1);
  expect((await ask(`${url}/exp?handle=b`)).text).toBe('n\r\n1\r\n2\r\n4\r\n');
  expect((await ask(`${url}/exp?handle=d`)).text).toBe('n\r\n1\r\n2\r\n1\r\n2\r\n');
  expect((await put(url, 'a', '7', '&overwrite=true')).status).toBe(200);
  expect((await ask(`${url}/exp?handle=a`)).text).toBe('n\r\n7\r\n');
  expect((await ask(`${url}/handles/c`, { method: 'DELETE' })).status).toBe(200);
  expect((await put(url, 'c', '8')).status).toBe(200);
  expect((await ask(`${url}/exp?handle=c`)).text).toBe('n\r\n8\r\n');
});

test('builds that never look at the format cannot make their folder, also in a copy and a restored backup', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  const folder = (data: string): string => join(data, 'cold', '.framehold', 'processes');
  const serve = async (data: string): Promise<void> => {
    await using server = await startFramehold({ dataDir: data });
    expect((await ask(`${server.url}/exp?handle=a`)).text).toBe('n\r\n1\r\n');
  };
  {
    await using server = await startFramehold({ dataDir });
    expect((await put(server.url, 'a', '1')).status).toBe(200);
    const backup = await runCommand(['backup', join(directory.path, 'backups'), '--data-dir', dataDir], {
      cwd: directory.path,
    });
    expect(backup.status).toBe(0);
  }
  // What these builds do first, and what every read begins with.
  await expect(makeFolder(folder(dataDir))).rejects.toThrow('EEXIST');
  await expect(readdir(folder(dataDir))).rejects.toThrow('ENOTDIR');
  expect(await readFile(folder(dataDir), 'utf8')).toContain(`This directory has format ${currentFormat}`);
  const restored = join(directory.path, 'restored');
  await runCommand(['restore', join(directory.path, 'backups'), '--data-dir', restored], { cwd: directory.path });
  expect((await stat(folder(restored))).isFile()).toBe(true);
  await rm(folder(dataDir));
  await serve(dataDir);
  expect((await stat(folder(dataDir))).isFile()).toBe(true);
});

test('a directory of format 2 is marked at the upgrade, which waits for no server that runs on it', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = directory.path;
  const own = join(dataDir, 'cold', '.framehold');
  {
    await using server = await startFramehold({ dataDir });
    expect((await put(server.url, 'a', '1')).status).toBe(200);
  }
  await rm(join(own, 'processes'));
  await mkdir(join(own, 'processes'));
  await writeFile(join(own, 'format.json'), withChecksum({ format: 2, writtenBy: '0.1.0' }));
  const lease = join(own, 'processes', '7-EARLIER.living');
  await writeFile(lease, '{"host":"elsewhere","pid":7} 000000000000\n');
  const beat = setInterval(() => void utimes(lease, new Date(), new Date()).catch(() => {}), 100);
  try {
    const server = beginFramehold({ dataDir });
    let stderr = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const begun = once(server, 'close');
    const backup = await runCommand(['backup', join(dataDir, 'backups'), '--data-dir', dataDir], { cwd: dataDir });
    const refusal = 'has format 2 and cannot be upgraded while another server runs on it (process 7-EARLIER)';
    expect(backup.stderr).toContain(refusal);
    expect(await begun).toEqual([1, null]);
    expect(stderr).toContain(refusal);
    expect((await stat(join(own, 'processes'))).isDirectory()).toBe(true);
  } finally {
    clearInterval(beat);
  }
  await rm(lease);
  await using server = await startFramehold({ dataDir });
  expect((await ask(`${server.url}/exp?handle=a`)).text).toBe('n\r\n1\r\n');
  expect((await stat(join(own, 'processes'))).isFile()).toBe(true);
  expect(await readFile(join(own, 'format.json'), 'utf8')).toContain(`"format":${currentFormat}`);
});
