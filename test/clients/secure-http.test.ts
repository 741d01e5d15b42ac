import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Missing, needed } from '../support/missing.ts';
import { type SecureServer, startSecureServer } from './support/secure-server.ts';

const run = promisify(execFile);

let server: SecureServer;
const file = (name: string): string => readFileSync(join(server.folder, name), 'utf8').trimEnd();

beforeAll(async () => {
  server = await startSecureServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const hasCurl = await needed('curl', async () => {
  await run('curl', ['--version']).catch(() => {
    throw new Missing('there is no curl on the PATH');
  });
  return true;
});

describe.skipIf(hasCurl === undefined)('curl', () => {
  /** What curl writes, then the status. Secrets go by a config file, never by the command line. */
  async function curl(config: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
    const lines = Object.entries(config).map(([name, value]) => `${name} = "${value}"\n`);
    await writeFile(join(server.folder, 'curl.cfg'), lines.join(''), { mode: 0o600 });
    const { stdout } = await run('curl', ['-sS', '-K', 'curl.cfg', '-w', ' %{http_code}', ...args], {
      cwd: server.folder,
    });
    return stdout;
  }
  const cacert = 'ca.crt';

  test('puts and reads with -u, --oauth2-bearer, a header, --netrc-file and a client certificate', async () => {
    const token = file('token');
    await writeFile(join(server.folder, 'netrc'), `machine 127.0.0.1 login anyone password ${token}\n`, {
      mode: 0o600,
    });
    const ways: Record<string, string>[] = [
      { user: `anyone:${token}` },
      { 'oauth2-bearer': token },
      { header: `Authorization: Bearer ${file('jwt')}` },
      { 'netrc-file': 'netrc' },
      { cert: 'client.crt', key: 'client.key' },
    ];
    for (const [index, way] of ways.entries()) {
      const put = await curl(
        { cacert, ...way },
        '-F',
        'data=n\n1\n2\n',
        `${server.url}/imp?name=curl${index}&fmt=json`,
      );
      expect(put).toMatch(/"rowsImported":2.* 200$/s);
      expect(await curl({ cacert, ...way }, `${server.url}/exp?handle=curl${index}`)).toBe('n\r\n1\r\n2\r\n 200');
    }
  });

  test('is told of wrong and revoked credentials, a missing role, and an unknown authority', async () => {
    const handles = `${server.url}/handles`;
    expect(await curl({ cacert, user: 'anyone:secret' }, handles)).toMatch(/neither a token.* 401$/);
    expect(await curl({ cacert, 'oauth2-bearer': file('revoked-token') }, handles)).toMatch(
      /unknown or revoked.* 401$/,
    );
    const put = await curl({ cacert, user: `:${file('read-token')}` }, '-F', 'data=n\n1\n', `${server.url}/imp?name=x`);
    expect(put).toMatch(/needs the role write.* 403$/s);
    await expect(curl({ user: `anyone:${file('token')}` }, handles)).rejects.toMatchObject({
      code: 60,
      stderr: expect.stringContaining('SSL certificate problem'),
    });
    const stranger = { cert: 'stranger.crt', key: 'stranger.key', user: `anyone:${file('token')}` };
    await expect(curl({ cacert, ...stranger }, handles)).rejects.toThrow(/curl: \((35|52|55|56)\)/);
  });
});

describe('undici', () => {
  async function ask(path: string, token: string | undefined, names: { ca?: string; cert?: string; key?: string }) {
    const connect = Object.fromEntries(Object.entries(names).map(([option, name]) => [option, file(name)]));
    await using cleanup = { agent: new Agent({ connect }), [Symbol.asyncDispose]: () => cleanup.agent.destroy() };
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(`${server.url}${path}`, { dispatcher: cleanup.agent, headers });
    return { status: statusCode, text: await body.text() };
  }
  const ca = 'ca.crt';
  const sql = `/exec?query=${encodeURIComponent('SELECT 42 AS n')}&fmt=json&engine=local`;

  test('reads with a token, and with a client certificate', async () => {
    for (const answer of [
      await ask(sql, file('token'), { ca }),
      await ask(sql, undefined, { ca, cert: 'client.crt', key: 'client.key' }),
    ]) {
      expect(answer).toEqual({ status: 200, text: expect.stringContaining('"dataset":[[42]]') });
    }
  });

  test('is told of wrong and revoked credentials, and of an unknown authority', async () => {
    expect(await ask(sql, 'secret', { ca })).toMatchObject({
      status: 401,
      text: expect.stringContaining('neither a token'),
    });
    expect(await ask(sql, file('revoked-token'), { ca })).toMatchObject({
      status: 401,
      text: expect.stringContaining('revoked'),
    });
    await expect(ask(sql, file('token'), {})).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });
});
