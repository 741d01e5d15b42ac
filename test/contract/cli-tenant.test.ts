import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf } from '../support/command-here.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

let server: Framehold;
let operator = '';

const commands = commandsOf();
const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}, stdin?: string) =>
  commands(argv, { cwd: server.dataDir, env: { FRAMEHOLD_SERVER: server.url, ...env }, ...(stdin && { stdin }) });
const as = (token: string, ...argv: string[]) => run(argv, { FRAMEHOLD_TOKEN: token });
const created = async (...argv: string[]) => (await run(['token', 'create', ...argv])).stdout.trimEnd();

beforeAll(async () => {
  server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
  operator = await created('--role', 'operator', '--name', 'me', '--data-dir', server.dataDir);
  await eventually(async () => (await as(operator, 'whoami')).status === 0, 2000);
});
afterAll(() => server[Symbol.asyncDispose]());

test('tenants are made, changed, listed and removed over the wire', async () => {
  const limits = ['--max-frames', '7', '--max-bytes', '250KB', '--engines', 'tsdb,analytics'];
  expect(await as(operator, 'tenant', 'create', 'acme', ...limits)).toMatchObject({
    status: 0,
    stdout: '',
    stderr: 'made acme\n',
  });
  expect((await as(operator, 'tenant', 'set', 'acme', '--max-rate', '50', '--max-frames', 'none')).status).toBe(0);
  expect((await as(operator, 'tenant', 'ls')).stdout).toBe(
    'acme\t\t250000\t50\t\tanalytics,tsdb\ndefault\t\t\t\t\t*\n',
  );
  expect((await as(operator, 'tenant', 'set', 'acme', '--max-rate', '', '--engines', '')).status).toBe(0);
  expect(JSON.parse((await as(operator, 'tenant', 'ls', '--json')).stdout)[0]).toMatchObject({
    name: 'acme',
    max_frames: null,
    max_bytes: 250_000,
    max_rate: null,
    max_statements: null,
    engines: [],
  });
  expect(await as(operator, 'tenant', 'rm', 'acme')).toMatchObject({ status: 0, stdout: '', stderr: 'removed acme\n' });
  expect((await as(operator, 'tenant', 'ls')).stdout).toBe('default\t\t\t\t\t*\n');
});

test('tenants are managed in the directory itself, and running servers know of it within a second', async () => {
  const here = ['--data-dir', server.dataDir];
  expect((await run(['tenant', 'create', 'desk', ...here])).stderr).toBe('made desk\n');
  const token = await created('--role', 'write', '--name', 'ci', '--tenant', 'desk', ...here);
  await eventually(async () => (await as(token, 'whoami')).stdout.includes('ci: write in the tenant desk'), 2000);
  expect((await run(['tenant', 'set', 'desk', '--max-frames', '3', ...here])).status).toBe(0);
  expect((await run(['tenant', 'ls', ...here])).stdout).toContain('desk\t3\t');
  expect((await run(['tenant', 'rm', 'desk', ...here])).status).toBe(0);
  await eventually(async () => (await as(token, 'whoami')).status === 1, 2000);
  expect((await as(token, 'whoami')).stderr).toContain('the token is unknown or revoked');
});

test('an operator acts in a tenant, over HTTP and Flight, and makes its tokens', async () => {
  await as(operator, 'tenant', 'create', 'east');
  const put = await run(['put', '-', '--handle', 'a', '--tenant', 'east'], { FRAMEHOLD_TOKEN: operator }, 'n\n1\n');
  expect(put).toMatchObject({ status: 0 });
  expect((await as(operator, 'ls')).stdout).toBe('');
  expect((await as(operator, 'get', 'a', '--tenant', 'east', '--format', 'arrow')).status).toBe(0);
  const token = (await as(operator, 'token', 'create', '--role', 'read', '--name', 'r', '--tenant', 'east')).stdout;
  expect((await as(token.trimEnd(), 'get', 'a')).stdout).toBe('n\r\n1\r\n');
  const listed = (await as(operator, 'token', 'ls', '--tenant', 'east')).stdout;
  expect(listed.split('\n').filter(Boolean)).toHaveLength(1);
  expect(await as(token.trimEnd(), 'ls', '--tenant', 'default')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('only an operator may act in another tenant'),
  });
  expect(await as(operator, 'tenant', 'rm', 'east')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('the tenant east has 1 frame (drop them first'),
  });
  expect((await as(operator, 'rm', 'a', '--tenant', 'east')).status).toBe(0);
  expect((await as(operator, 'tenant', 'rm', 'east')).status).toBe(0);
  expect((await as(token.trimEnd(), 'whoami')).status).toBe(1);
});

test('a token is made for another tenant over HTTP', async () => {
  const headers = { authorization: `Bearer ${operator}` };
  const post = (path: string, body: string) => ask(`${server.url}${path}`, { method: 'POST', headers, body });
  expect((await post('/tenants', '{"name":"west","max_frames":1}')).json()).toMatchObject({
    name: 'west',
    max_frames: 1,
    engines: [],
  });
  const made = await post('/tokens', '{"name":"x","role":"read","tenant":"west"}');
  expect(made.json()).toMatchObject({ tenant: 'west' });
  expect((await post('/tokens', '{"name":"x","role":"read","tenant":"nowhere"}')).status).toBe(404);
});

test.each([
  [['tenant'], 2, 'tenant needs create|set|ls|rm [NAME]'],
  [['tenant', 'make'], 2, 'tenant "make" is not known; expected create, set, ls or rm'],
  [['tenant', 'create'], 2, 'tenant create needs the NAME of a tenant'],
  [['tenant', 'create', 'Acme'], 1, '"Acme" cannot be the name of a tenant'],
  [['tenant', 'create', 'analytics'], 1, '"analytics" cannot be the name of a tenant'],
  [['tenant', 'create', 'default'], 1, 'there is a tenant default already'],
  [['tenant', 'create', 'x', '--max-bytes', 'much'], 2, '--max-bytes is "much"; expected a number of bytes'],
  [['tenant', 'create', 'x', '--max-rate', '0'], 2, '--max-rate is "0"; expected a whole number, at least 1'],
  [['tenant', 'create', 'x', '--engines', 'auto'], 1, '"auto" is no engine that can be granted'],
  [['tenant', 'set', 'none', '--max-rate', '1'], 1, 'there is no tenant "none"'],
  [['tenant', 'set', 'default', '--engines', 'tsdb'], 1, 'the tenant default has every engine'],
  [['tenant', 'set', 'x'], 2, 'tenant set needs something to change'],
  [['tenant', 'rm', 'none'], 1, 'there is no tenant "none"'],
  [['tenant', 'rm', 'default'], 1, 'the tenant default cannot be removed'],
  [['tenant', 'ls', '--server', 'http://x', '--data-dir', '.'], 2, '--server and --data-dir are given'],
  [
    ['token', 'create', '--role', 'operator', '--name', 'x', '--tenant', 'y'],
    2,
    'an operator stands above all tenants',
  ],
  [['ls', '--tenant', 'none'], 1, 'there is no tenant "none"'],
])('%j is refused in one line, with nothing on standard output', async (argv, status, words) => {
  const result = await as(operator, ...argv);
  expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(words) });
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
});
