import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '../../src/core/system/version.ts';
import { currentFormat } from '../../src/frames/upkeep/directory-format.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { releasedDirectory, releasedVersions } from '../support/released-directory.ts';
import { soon } from '../support/soon.ts';
import { runCommand } from '../support/spawned-command.ts';

/** A tombstone is remembered, however old the fixture is. */
const settings = { 'auth.enabled': 'true', 'frames.tombstone_ttl': '36500d' };

test('there is a data directory of the first release', () => {
  expect(releasedVersions).toContain('0.1.0');
});

describe.each(releasedVersions)('a data directory that version %s left', (released) => {
  test('is upgraded, read, appended to, merged, overwritten, dropped from, verified, backed up and restored', async () => {
    await using directory = await releasedDirectory(released);
    const { dataDir, cold, ledger, tokenOf } = directory;
    const [operator, writer] = [tokenOf('operator'), tokenOf('writer')];
    const tokens: Readonly<Record<string, string>> = { default: operator, acme: writer };
    const command = async (...argv: string[]): Promise<string> => {
      const { status, stdout, stderr } = await runCommand(argv, { cwd: directory.path });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    const readAll = async (url: string): Promise<void> => {
      for (const { tenant, handle, rows } of ledger.frames) {
        const headers = { authorization: `Bearer ${tokens[tenant]}` };
        const answer = await ask(`${url}/exp?handle=${handle}`, { headers });
        expect({ handle, rows: answer.text }).toEqual({ handle, rows });
      }
    };

    const before = await command('backup', directory.path, '--data-dir', dataDir);
    {
      await using server = await startFramehold({ dataDir, settings });
      const { url } = server;
      const as = (token: string, path: string, options: { method?: string; body?: string; headers?: object } = {}) =>
        ask(`${url}${path}`, { ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } });
      const format = JSON.parse(readFileSync(join(cold, '.framehold/format.json'), 'utf8').split('\n')[0] ?? '');
      expect(format).toMatchObject({ format: currentFormat, writtenBy: version });

      await readAll(url);
      for (const handle of ledger.dropped) expect((await as(operator, `/exp?handle=${handle}`)).status).toBe(410);
      const { share, limits } = ledger;
      expect((await as(operator, `/exec?handle=${share.tenant}/${share.handle}&fmt=json`)).status).toBe(200);
      expect((await as(operator, '/tenants')).json()).toMatchObject({
        tenants: expect.arrayContaining([
          expect.objectContaining({ name: limits.tenant, max_frames: limits.maxFrames, max_bytes: limits.maxBytes }),
        ]),
      });
      const lasting = (await as(operator, '/handles/lasting')).json();
      expect(lasting).toMatchObject({ ttl: expect.anything() });

      const { handle, ...mark } = ledger.producer;
      const repeated = await as(operator, `/imp?name=${handle}&append=true`, {
        method: 'POST',
        body: 'id,symbol,price\n5,S2,2.5\n',
        headers: { 'content-type': 'text/csv', ...mark },
      });
      expect(repeated.json()).toMatchObject({ repeated: true });

      const rowsOf = (name: string): string => ledger.frames.find((frame) => frame.handle === name)?.rows ?? '';
      for (const name of ['parts', 'trades', handle]) {
        const body = 'id,symbol,price\n1000,S9,9.5\n';
        const appended = await as(operator, `/imp?name=${name}&append=true`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'text/csv' },
        });
        expect(appended.status).toBe(200);
        expect((await as(operator, `/handles/${name}/flush`, { method: 'POST' })).status).toBe(200);
        expect((await as(operator, `/exp?handle=${name}`)).text).toBe(`${rowsOf(name)}1000,S9,9.5\r\n`);
      }

      // The command brings Arrow over Flight.
      const env = { FRAMEHOLD_SERVER: url, FRAMEHOLD_TOKEN: operator };
      for (const argv of [
        ['get', 'logged', '-o', 'logged.arrow'],
        ['put', 'logged.arrow', '--handle', 'parts', '--append'],
      ]) {
        expect((await runCommand(argv, { cwd: directory.path, env })).status).toBe(0);
      }
      const rows = async (): Promise<unknown> => (await as(operator, '/handles/parts')).json().rows;
      expect(await rows()).toBe(30 + 1 + 7);
      const partFiles = (): number => readdirSync(join(cold, 'parts')).length;
      // So many of a size are merged without a wait for the frame to stand still.
      for (let part = partFiles(); part < 45; part++) {
        await as(operator, '/imp?name=parts&append=true', { method: 'POST', body: 'id,symbol,price\n1,S1,0.5\n' });
        await as(operator, '/handles/parts/flush', { method: 'POST' });
      }
      const rowsBefore = await rows();
      await soon(() => expect(partFiles()).toBeLessThan(20));
      expect(await rows()).toBe(rowsBefore);
      expect((await as(operator, '/exp?handle=parts')).text.startsWith(rowsOf('parts'))).toBe(true);

      const overwritten = await as(writer, '/imp?name=prices&overwrite=true', {
        method: 'POST',
        body: 'id,price\n1,2.5\n',
        headers: { 'content-type': 'text/csv' },
      });
      expect(overwritten.status).toBe(200);
      expect((await as(operator, '/handles/typed', { method: 'DELETE' })).status).toBeLessThan(300);
      expect((await as(operator, '/exp?handle=typed')).status).toBe(410);
    }
    expect(await command('verify', '--data-dir', dataDir)).toBe(`${cold}: 5 sound, 0 damaged\n`);

    const backup = before.split(': ')[0] ?? '';
    const restored = join(directory.path, 'restored');
    expect(await command('restore', backup, '--data-dir', restored)).toContain(`: ${ledger.frames.length} frames, `);
    await using server = await startFramehold({ dataDir: restored, settings });
    await readAll(server.url);
  });
});
