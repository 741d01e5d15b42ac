import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { freePort } from '../support/free-port.ts';
import { codeBlocks, guideSection } from '../support/guide-section.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test('the guide of disaster recovery works line by line', async () => {
  await using directory = await temporaryDirectory();
  const root = directory.path;
  const [data, backups, spare] = ['data', 'backups', 'spare'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  await mkdir(join(root, 'bin'));
  await mkdir(backups);
  const command = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(join(root, 'bin/framehold'), command, { mode: 0o755 });

  // Each damage is on disk before a server has looked at the file.
  const settings = { 'compression.level': '1' };
  const start = () => startFramehold({ dataDir: data, settings });
  let server: Framehold = await start();
  const stop = () => server[Symbol.asyncDispose]();
  const put = (handle: string, query: string, body: string) =>
    ask(`${server.url}/imp?name=${handle}${query}`, { method: 'POST', body });
  const rows = async (handle: string): Promise<string> => (await ask(`${server.url}/exp?handle=${handle}`)).text;

  /** All commands of a section, one after the other, in one shell. Gives what they print. */
  async function follow(heading: string): Promise<string> {
    const script = codeBlocks(guideSection('disaster-recovery.md', heading), 'sh')
      .join('\n')
      .replaceAll('127.0.0.1:9100', `127.0.0.1:${httpPort}`)
      .replaceAll('9101', String(grpcPort));
    const env = {
      PATH: `${join(root, 'bin')}:${process.env.PATH}`,
      HOME: root,
      DATA: data,
      BACKUPS: backups,
      SPARE: spare,
      FRAMEHOLD_SERVER: server.url,
    };
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: root, env, timeout: 60_000 });
    return stdout;
  }

  try {
    const lines = Array.from({ length: 2000 }, (_, id) => `${id},${id / 2}\n`);
    for (const handle of ['trades', 'quotes']) await put(handle, '', `id,price\n${lines.join('')}`);
    await put('trades', '&append=true', 'id,price\n5000,1.5\n');
    const [trades, quotes] = [await rows('trades'), await rows('quotes')];
    expect(trades.endsWith('5000,1.5\r\n')).toBe(true);

    const made = await follow('## Make backups');
    expect(made).toMatch(/: 2 frames, [\s\S]*Z\/cold: 2 sound, 0 damaged\n$/);

    await stop();
    const file = join(data, 'cold', 'trades.parquet');
    await writeFile(file, Buffer.alloc((await stat(file)).size, 'x'));
    server = await start();
    const brought = await follow('## A file is damaged');
    expect(brought).toMatch(/^damaged {2}trades: /);
    expect(brought).toContain('restored from');
    expect(await rows('trades')).toBe(trades);

    await ask(`${server.url}/handles/quotes`, { method: 'DELETE' });
    expect((await ask(`${server.url}/exp?handle=quotes`)).status).toBe(410);
    await follow('## The wrong frame was dropped');
    expect(await rows('quotes')).toBe(quotes);

    await stop();
    expect(await follow('## The directory cannot be written')).toMatch(/\/cold: 2 sound, 0 damaged\n$/);

    await rm(data, { recursive: true });
    expect(await follow('## A disk is lost')).toMatch(/restored from .*: 2 frames, [\s\S]*: 2 sound, 0 damaged\n$/);
    server = await start();
    expect([await rows('trades'), await rows('quotes')]).toEqual([trades, quotes]);

    await stop();
    expect(await follow('## A version must be rolled back')).toContain('restored from');
    expect(await readdir(`${data}.newer`)).toContain('cold');
    server = await start();
    expect([await rows('trades'), await rows('quotes')]).toEqual([trades, quotes]);
  } finally {
    await stop();
  }
});
