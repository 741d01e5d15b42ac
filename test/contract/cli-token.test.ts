import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf } from '../support/command-here.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';

let server: Framehold;
let operator = '';

const commands = commandsOf();
const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  commands(argv, { cwd: server.dataDir, env: { FRAMEHOLD_SERVER: server.url, ...env } });
const as = (token: string, ...argv: string[]) => run(argv, { FRAMEHOLD_TOKEN: token });
const isKnown = async (token: string) => (await as(token, 'whoami')).status === 0;

beforeAll(async () => {
  // A command is here in a few milliseconds: a token is asked for often before the server knows it.
  server = await startFramehold({ settings: { 'auth.enabled': 'true', 'auth.max_failed_logins': '1000000' } });
  const made = await run(['token', 'create', '--role', 'operator', '--name', 'me', '--data-dir', server.dataDir]);
  operator = made.stdout.trimEnd();
});
afterAll(() => server[Symbol.asyncDispose]());

test('a token that is made in the directory is printed alone, and opens the running server within a second', async () => {
  expect(operator).toMatch(/^fh_\w{36}$/);
  await eventually(() => isKnown(operator), 2000);
  expect((await as(operator, 'whoami')).stdout).toBe('me: operator in the tenant default (credential: token)\n');
});

test('a directory is also named by where its frames are', async () => {
  const made = await run([
    'token',
    'create',
    '--role',
    'read',
    '--name',
    'cold',
    `--parquet-path=${server.dataDir}/cold`,
  ]);
  await eventually(() => isKnown(made.stdout.trimEnd()), 2000);
});

test('tokens are made, listed, rotated and revoked over the wire', async () => {
  const made = await as(
    operator,
    'token',
    'create',
    '--role',
    'write',
    '--name',
    'ci',
    '--prefix',
    'ci.',
    '--expires',
    '90d',
  );
  const token = made.stdout.trimEnd();
  expect((await as(token, 'whoami')).stdout).toContain('ci: write in the tenant default, handles that begin with ci.');
  const line = (await as(operator, 'token', 'ls')).stdout.split('\n').find((each) => each.includes('\tci\t')) ?? '';
  const [id = ''] = line.split('\t');
  const rotated = (await as(operator, 'token', 'rotate', id, '--overlap', '0s')).stdout.trimEnd();
  expect(await isKnown(rotated)).toBe(true);
  expect((await as(token, 'whoami')).stderr).toContain('the token expired at');
  expect(await as(operator, 'token', 'revoke', id)).toMatchObject({ status: 0, stdout: '', stderr: `revoked ${id}\n` });
  expect((await as(token, 'whoami')).stderr).toContain('the token is unknown or revoked');
});

test('a token may stand in a file that the settings name', async () => {
  const file = join(server.dataDir, 'token');
  await writeFile(file, `${operator}\n`);
  expect((await run(['whoami'], { FRAMEHOLD_TOKEN_FILE: file })).status).toBe(0);
  expect(await run(['whoami'], { FRAMEHOLD_TOKEN_FILE: `${file}2` })).toMatchObject({
    status: 2,
    stderr: `framehold: there is no token file ${file}2 (client.token_file)\n`,
  });
});

test.each([
  [['token'], 2, 'token'],
  [['token', 'make'], 2, 'token "make" is not known; expected create, ls, revoke or rotate'],
  [['token', 'create'], 2, 'token create needs --name and --role'],
  [
    ['token', 'create', '--name', 'x', '--role', 'root'],
    2,
    '--role is "root"; expected one of read, write, admin, operator',
  ],
  [['token', 'create', '--name', 'x', '--role', 'read', '--expires', 'soon'], 2, '--expires is "soon"'],
  [['token', 'revoke'], 2, 'token revoke needs the ID of a token'],
  [['token', 'revoke', 'none'], 1, 'there is no token "none"'],
  [['token', 'create', '--name', ' ', '--role', 'read'], 1, '" " cannot be the name of a token'],
  [['token', 'create', '--name', ' ', '--role', 'read', '--data-dir', '.'], 1, '" " cannot be the name of a token'],
  [['token', 'ls', '--server', 'http://x', '--data-dir', '.'], 2, '--server and --data-dir are given'],
  [['token', 'ls', '--data-dir', ''], 2, '--data-dir is empty'],
  [['ls'], 1, 'no credentials were sent'],
])('%j is refused in one line, with nothing on standard output', async (argv, status, words) => {
  const isAlone = argv[0] === 'ls';
  const result = isAlone ? await run(argv) : await as(operator, ...argv);
  expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(words) });
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
});
