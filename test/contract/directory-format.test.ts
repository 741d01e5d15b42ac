import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../src/core/system/version.ts';
import { currentFormat } from '../../src/frames/upkeep/directory-format.ts';
import { smallDisk } from '../faults/disk/small-disk.ts';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { runCommand } from '../support/spawned-command.ts';
import { beginFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const formatOf = (dataDir: string): string => join(dataDir, 'cold', '.framehold', 'format.json');

async function writeFormat(dataDir: string, text: string): Promise<void> {
  await mkdir(dirname(formatOf(dataDir)), { recursive: true, mode: 0o700 });
  await writeFile(formatOf(dataDir), text);
}

function sealed(value: object): string {
  const json = JSON.stringify(value);
  return `${json}\n${createHash('sha256').update(json).digest('hex')}\n`;
}

describe('every command that opens a directory', () => {
  let directory: TemporaryDirectory;
  const commands = (dataDir: string): readonly (readonly string[])[] => [
    ['verify', '--data-dir', dataDir],
    ['verify', '--repair', '--data-dir', dataDir],
    ['backup', join(directory.path, 'backups'), '--data-dir', dataDir],
    ['token', 'ls', '--data-dir', dataDir],
    ['tenant', 'ls', '--data-dir', dataDir],
  ];
  beforeAll(async () => {
    directory = await temporaryDirectory();
    return () => directory[Symbol.asyncDispose]();
  });

  /** What the server and the commands say, which is the same for all. */
  async function linesOf(dataDir: string): Promise<ReadonlySet<string>> {
    const server = beginFramehold({ dataDir });
    let stderr = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(server, 'close');
    const results = await Promise.all(commands(dataDir).map((argv) => runCommand(argv, { cwd: directory.path })));
    expect([code, ...results.map(({ status }) => status)]).toEqual([1, 1, 1, 1, 1, 1]);
    const lines = results.map((result) => result.stderr.replace('framehold: ', '').trimEnd());
    return new Set([stderr.replace('framehold: could not start: ', '').trimEnd(), ...lines]);
  }

  test('refuses one of a newer version in one line: which, of which version, and what to do', async () => {
    const dataDir = join(directory.path, 'newer');
    await writeFormat(dataDir, sealed({ format: 7, writtenBy: '2.5.0' }));
    expect([...(await linesOf(dataDir))]).toEqual([
      `${dataDir}/cold has format 7, written by Framehold 2.5.0; this is Framehold ${version}, which reads formats up to ${currentFormat}; ` +
        'start Framehold 2.5.0 or newer, or restore a backup from before the upgrade',
    ]);
    expect(await readdir(join(dataDir, 'cold', '.framehold'))).toEqual(['format.json']);
    const doctor = await runCommand(['doctor', '--json', '--data-dir', dataDir], { cwd: directory.path });
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly { readonly check: string }[] };
    expect(checks.find(({ check }) => check === 'format')).toMatchObject({
      level: 'fail',
      found: expect.stringContaining('has format 7, written by Framehold 2.5.0'),
    });
  });

  test('refuses one whose format file is damaged, rather than taking it for an old one', async () => {
    const dataDir = join(directory.path, 'damaged');
    const damaged = [sealed({ format: 1, writtenBy: '0.2.0' }).replace('0.2.0', '0.3.0'), '', sealed({ format: '1' })];
    await writeFormat(dataDir, damaged[0] ?? '');
    expect([...(await linesOf(dataDir))]).toEqual([
      `the format file ${formatOf(dataDir)} is damaged; ` +
        'restore a backup; if the directory was last written by this version, remove the file',
    ]);
    for (const text of damaged.slice(1)) {
      await writeFormat(dataDir, text);
      const { stderr } = await runCommand(['token', 'ls', '--data-dir', dataDir], { cwd: directory.path });
      expect(stderr).toContain('is damaged');
    }
    await rm(formatOf(dataDir));
    await mkdir(formatOf(dataDir));
    const { stderr } = await runCommand(['token', 'ls', '--data-dir', dataDir], { cwd: directory.path });
    expect(stderr).toContain(`the format file ${formatOf(dataDir)} cannot be read (EISDIR)`);
  });
});

test('servers that start at once on a fresh directory all serve, and leave one format file', async () => {
  await using directory = await temporaryDirectory();
  const cold = join(directory.path, 'shared');
  const servers = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      startFramehold({ dataDir: join(directory.path, name), settings: { 'storage.parquet_path': cold } }),
    ),
  );
  for (const server of servers) await server[Symbol.asyncDispose]();
  const [line = ''] = (await readFile(join(cold, '.framehold', 'format.json'), 'utf8')).split('\n');
  expect(JSON.parse(line)).toEqual({ format: currentFormat, writtenBy: version });
  expect((await readdir(join(cold, '.framehold'))).filter((name) => name.startsWith('.'))).toEqual([]);
});

test.skipIf(leftOutWithoutMount())(
  'a directory of 0.1.0 on a disk that cannot be written is served as it is',
  async () => {
    await using disk = await smallDisk({ bytes: 20_000_000 });
    {
      await using server = await startFramehold({ dataDir: disk.path });
      await putSql(server.frames, 'one', 'SELECT 1 AS id');
    }
    await rm(formatOf(disk.path));
    disk.remount('ro');
    {
      await using server = await startFramehold({ dataDir: disk.path });
      expect((await ask(`${server.url}/exp?handle=one`)).text).toBe('id\r\n1\r\n');
    }
    disk.remount('rw');
    await writeFormat(disk.path, sealed({ format: 7, writtenBy: '2.5.0' }));
    disk.remount('ro');
    await expect(startFramehold({ dataDir: disk.path })).rejects.toThrow('has format 7');
  },
);
