import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { importForm, importRaw, leftBehind } from '../support/import-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

describe.skipIf(leftOutWithoutMount())('a full disk', () => {
  let directory: TemporaryDirectory;
  beforeEach(async () => {
    directory = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', directory.path]);
  });
  afterEach(async () => {
    execFileSync('umount', ['--lazy', directory.path]);
    await directory[Symbol.asyncDispose]();
  });

  test('refuses the file that finds no room, leaves nothing of it, and takes the next', async () => {
    await using server = await startFramehold({ dataDir: directory.path });
    const csv = `a,b\n${'1,some text\n'.repeat(1_000_000)}`;
    for (const answer of [
      await importRaw(server, 'name=large', csv),
      await importForm(server, 'name=large', { data: { bytes: csv, fileName: 'large.csv' } }),
    ]) {
      expect([answer.status, answer.json().code]).toEqual([507, 'storage_full']);
      await expect.poll(() => leftBehind(server)).toEqual({ handles: [], files: [] });
    }
    expect((await importRaw(server, 'name=small', 'a,b\n1,2\n')).status).toBe(200);
  });
});
