import { createHash } from 'node:crypto';
import { chmod, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { generateToken } from '../../src/auth/token.ts';
import { defaultTenant, type Role } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { otherTenant, startClosedServer } from '../support/closed-server.ts';
import { byPath, FlightClient } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Line {
  readonly [field: string]: unknown;
  readonly request_id?: string;
  readonly outcome?: string;
}

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: Framehold;
let flight: FlightClient;
let file: string;
let dataDir: string;
const tokens = new Map<Role, { readonly token: string; readonly id: string }>();

async function makeToken(role: Role): Promise<void> {
  const records = await AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
  const tenant = role === 'operator' ? undefined : defaultTenant;
  const made = await records.createToken({ name: `a ${role}`, role, tenant, prefix: undefined, expiresAt: undefined });
  tokens.set(role, { token: made.token, id: made.record.id });
}

async function linesOf(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** The one line of the request that was sent with this id. */
async function lineOf(id: string): Promise<Line> {
  const found = async () => (await linesOf(file)).filter((line) => line.client_request_id === id);
  await expect.poll(found).toHaveLength(1);
  return (await found())[0] as Line;
}

let sent = 0;

async function request(
  role: Role | undefined,
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly answer: Answer; readonly id: string }> {
  const id = `test-${++sent}`;
  const authorization = role === undefined ? {} : { authorization: `Bearer ${tokens.get(role)?.token}` };
  const headers = { 'x-request-id': id, ...authorization };
  const answer = await ask(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  return { answer, id };
}

const bearer = (role: Role) => ({ authorization: `Bearer ${tokens.get(role)?.token}` });

beforeAll(async () => {
  directory = await temporaryDirectory();
  dataDir = join(directory.path, 'data');
  file = join(directory.path, 'audit.jsonl');
  for (const role of ['read', 'write', 'admin', 'operator'] as const) await makeToken(role);
  server = await startFramehold({ dataDir, settings: { 'auth.enabled': 'true', 'audit.file': file } });
  flight = new FlightClient(server.grpcAddress.port);
});

afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

test('only its owner may read the file', async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a put has its line before its answer, with who, what and how much', async () => {
  const { answer, id } = await request('write', 'POST', '/imp?name=trades', 'price,symbol\n1,A\n2,B\n');
  expect(answer.status).toBe(200);
  const [line] = (await linesOf(file)).filter((each) => each.client_request_id === id);
  expect(line).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    server: expect.stringMatching(/:\d+$/),
    door: 'http',
    method: 'POST',
    route: '/imp',
    request_id: expect.stringMatching(/^\w+-\w+$/),
    client_request_id: id,
    tenant: 'default',
    name: 'a write',
    credential: 'token',
    credential_id: tokens.get('write')?.id,
    address: '127.0.0.1',
    action: 'writeFrames',
    frames: [{ handle: 'trades', action: 'create', version: 1 }],
    outcome: 'ok',
    rows: 2,
    bytes: expect.any(Number),
    ms: expect.any(Number),
  });
});

test('a read has a line, from the disk and from memory', async () => {
  for (const _ of ['disk', 'memory', 'memory']) {
    const { answer, id } = await request('read', 'GET', '/exec?handle=trades&fmt=json');
    expect(await lineOf(id)).toMatchObject({
      action: 'readFrames',
      frames: [{ handle: 'trades', action: 'read', version: 1 }],
      outcome: 'ok',
      status: 200,
      rows: 2,
      bytes: answer.body.length,
    });
  }
});

test('a statement stands there as its SHA-256, with the frames that it read and its engine', async () => {
  const sql = "select price from trades where symbol = 'A secret'";
  const { id } = await request('read', 'POST', '/sql', JSON.stringify({ sql }));
  expect(await lineOf(id)).toMatchObject({
    action: 'runStatements',
    frames: [{ handle: 'trades', action: 'read', version: 1 }],
    sql_sha256: createHash('sha256').update(sql).digest('hex'),
    engine: 'local',
    outcome: 'ok',
  });
  expect(await readFile(file, 'utf8')).not.toContain('secret');
});

test('a plot stands there as the statement of its caller, a plot or a profile of a frame as a description', async () => {
  const sql = 'select price from trades';
  const drawn = [
    [sql, 'POST', '/plot', JSON.stringify({ sql, y: 'price' })],
    ['plot of trades: line', 'POST', '/plot', '{"handle":"trades","y":"price"}'],
    ['profile of trades: price', 'GET', '/handles/trades/profile?column=price', undefined],
  ] as const;
  for (const [text, method, path, body] of drawn) {
    const { answer, id } = await request('read', method, path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(await lineOf(id)).toMatchObject({ sql_sha256: createHash('sha256').update(text).digest('hex') });
  }
});

test('a statement that makes a frame names both that it read and that it made', async () => {
  const { id } = await request('write', 'POST', '/sql', '{"sql":"create table made as select * from trades"}');
  expect(await lineOf(id)).toMatchObject({
    action: 'writeFrames',
    frames: expect.arrayContaining([
      { handle: 'trades', action: 'read', version: 1 },
      { handle: 'made', action: 'create', version: 1 },
    ]),
    rows: 2,
  });
});

test.each([
  ['a missing right', 'read', 'DELETE', '/handles/trades', 403, 'forbidden'],
  ['a frame that is not there', 'read', 'GET', '/exec?handle=nothing&fmt=json', 404, 'handle_not_found'],
  ['a path that is not there', 'read', 'GET', '/nothing', 404, 'not_found'],
] as const)('%s is a line with its code', async (_, role, method, path, code, outcome) => {
  const { answer, id } = await request(role, method, path);
  expect(answer.status).toBe(code);
  expect(await lineOf(id)).toMatchObject({ name: 'a read', outcome, status: code });
});

test('a refused drop names the frame', async () => {
  const { id } = await request('write', 'DELETE', '/handles/nothing');
  expect(await lineOf(id)).toMatchObject({ frames: [{ handle: 'nothing', action: 'drop' }] });
});

test('a frame that is put by the name of its tenant and its handle is told once', async () => {
  const { id } = await request('write', 'POST', '/imp?name=default/own', 'a\n1\n');
  expect(await lineOf(id)).toMatchObject({ frames: [{ handle: 'default/own', action: 'create', version: 1 }] });
});

test('a token that is made, rotated or revoked is named by its id, never by itself', async () => {
  const made = await request('admin', 'POST', '/tokens', '{"name":"ci","role":"read"}');
  const { id, token } = made.answer.json();
  expect(await lineOf(made.id)).toMatchObject({ action: 'manageTokens', object: id, outcome: 'ok' });
  const rotated = await request('admin', 'POST', `/tokens/${id}/rotate`);
  expect(await lineOf(rotated.id)).toMatchObject({ object: `${id} ${rotated.answer.json().id}` });
  const revoked = await request('admin', 'DELETE', `/tokens/${id}`);
  expect(await lineOf(revoked.id)).toMatchObject({ object: id, outcome: 'ok' });
  const wrong = await request('admin', 'DELETE', `/tokens/${token}`);
  expect(await lineOf(wrong.id)).toMatchObject({ object: '***', outcome: 'not_found' });
  const text = await readFile(file, 'utf8');
  for (const secret of [token, rotated.answer.json().token, ...[...tokens.values()].map((each) => each.token)]) {
    expect(text).not.toContain(secret);
  }
});

test('paths that are open to anybody have no line', async () => {
  const before = await linesOf(file);
  for (const [method, path] of [
    ['GET', '/ping'],
    ['GET', '/info'],
    ['OPTIONS', '/exec'],
  ] as const) {
    await request(undefined, method, path);
  }
  const { id } = await request('read', 'GET', '/whoami');
  await lineOf(id);
  expect(await linesOf(file)).toHaveLength(before.length + 1);
});

describe('over Flight', () => {
  const ipc = tableToIPC(tableFromArrays({ id: Int32Array.of(1, 2, 3) }), 'stream');
  const lastOf = async (method: string): Promise<Line | undefined> =>
    (await linesOf(file)).filter((line) => String(line.method).endsWith(`/${method}`)).at(-1);

  test('a put has its line before its answer', async () => {
    const put = await flight.put(byPath('flown'), ipc, { headers: bearer('write') });
    expect(put.status.code).toBe(status.OK);
    expect(await lastOf('DoPut')).toMatchObject({
      door: 'grpc',
      method: '/arrow.flight.protocol.FlightService/DoPut',
      name: 'a write',
      action: 'writeFrames',
      frames: [{ handle: 'flown', action: 'create', version: 1 }],
      outcome: 'ok',
      rows: 3,
    });
  });

  test('a refused put names the frame and the code', async () => {
    const put = await flight.put(byPath('refused'), ipc, { headers: bearer('read') });
    expect(put.status.code).toBe(status.PERMISSION_DENIED);
    await expect
      .poll(() => lastOf('DoPut'))
      .toMatchObject({ name: 'a read', frames: [{ handle: 'refused' }], outcome: 'forbidden' });
  });

  test('a list and a call without credentials have lines', async () => {
    await flight.list('', bearer('read'));
    await expect.poll(() => lastOf('ListFlights')).toMatchObject({ action: 'ListFlights', outcome: 'ok' });
    await flight.list('');
    await expect.poll(() => lastOf('ListFlights')).toMatchObject({ outcome: 'unauthenticated' });
    expect(await lastOf('ListFlights')).not.toHaveProperty('name');
  });
});

test('failed logins beyond ten of one address are summed, and no user name stands in the file', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit.jsonl');
  await using closed = await startFramehold({ settings: { 'auth.enabled': 'true', 'audit.file': path } });
  const authorization = `Basic ${Buffer.from(`hunter2:${generateToken()}`).toString('base64')}`;
  for (let n = 0; n < 25; n++) await ask(`${closed.url}/handles`, { headers: { authorization } });
  await closed[Symbol.asyncDispose]();
  const lines = await linesOf(path);
  expect(lines.filter(({ outcome }) => outcome === 'unauthenticated')).toHaveLength(10);
  expect(lines.at(-1)).toMatchObject({ address: '127.0.0.1', action: 'refused', outcome: 'summed', count: 15 });
  expect(await readFile(path, 'utf8')).not.toContain('hunter2');
});

test('requests beyond the rate of a tenant are summed, too', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit.jsonl');
  const closed = await startClosedServer({ settings: { 'audit.file': path } });
  await closed.records.setTenant(otherTenant, { maxRate: 1 });
  const refusals = async (): Promise<number> => {
    const answers = Array.from({ length: 50 }, () => closed.as(closed.token('otherTenant'), 'GET', '/handles'));
    return (await Promise.all(answers)).filter(({ status: code }) => code === 429).length;
  };
  let refused = 0;
  await expect
    .poll(async () => {
      refused += await refusals();
      return refused;
    })
    .toBeGreaterThan(40);
  await closed[Symbol.asyncDispose]();
  const lines = await linesOf(path);
  expect(lines.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(10);
  expect(lines.at(-1)).toMatchObject({ tenant: 'other', action: 'refused', outcome: 'summed', count: refused - 10 });
});

test('without authentication the caller is anonymous', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit.jsonl');
  await using open = await startFramehold({ settings: { 'audit.file': path } });
  await ask(`${open.url}/imp?name=a`, { method: 'POST', body: 'a\n1\n' });
  expect(await linesOf(path)).toMatchObject([{ name: 'anonymous', credential: 'none', outcome: 'ok' }]);
});

/** A file that can always be opened and never be written. */
const full = '/dev/full';

describe.skipIf(process.platform !== 'linux')('while the file cannot be written', () => {
  const put = (url: string, name: string) => ask(`${url}/imp?name=${name}`, { method: 'POST', body: 'a\n1\n' });

  test('nothing is acknowledged, and nothing more is done, until it can be', async () => {
    await using temporary = await temporaryDirectory();
    const path = join(temporary.path, 'audit.jsonl');
    await symlink(full, path);
    await using spawned = await spawnFramehold({
      dataDir: join(temporary.path, 'data'),
      flags: ['--audit-file', path],
    });
    const first = await put(spawned.url, 'first');
    expect([first.status, first.json().code]).toEqual([503, 'audit_unavailable']);
    expect(first.json().error).toContain('the change was made');
    const second = await put(spawned.url, 'second');
    expect(second.json()).toMatchObject({
      code: 'audit_unavailable',
      error: expect.stringContaining('nothing was done'),
    });
    expect((await ask(`${spawned.url}/handles`)).status).toBe(503);
    expect((await ask(`${spawned.url}/ping`)).status).toBeLessThan(300);
    await rm(path);
    spawned.kill('SIGHUP');
    await expect.poll(async () => (await ask(`${spawned.url}/handles`)).status).toBe(200);
    const handles = await ask(`${spawned.url}/handles`);
    expect([handles.text.includes('"first"'), handles.text.includes('"second"')]).toEqual([true, false]);
    await expect
      .poll(async () => (await linesOf(path))[0])
      .toMatchObject({ frames: [{ handle: 'first', version: 1 }], outcome: 'ok' });
  });

  test('everything goes on with on_failure = continue', async () => {
    await using open = await startFramehold({ settings: { 'audit.file': full, 'audit.on_failure': 'continue' } });
    for (const name of ['a', 'b']) expect((await put(open.url, name)).status).toBe(200);
    expect(open.log()).toContain('the audit file cannot be written');
  });
});

test('the file is opened anew on SIGHUP', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit.jsonl');
  await using spawned = await spawnFramehold({ dataDir: join(temporary.path, 'data'), flags: ['--audit-file', path] });
  await ask(`${spawned.url}/handles/before`);
  await expect.poll(() => linesOf(path)).toHaveLength(1);
  await rename(path, `${path}.1`);
  spawned.kill('SIGHUP');
  await expect.poll(() => stat(path).catch(() => undefined)).toBeDefined();
  await ask(`${spawned.url}/handles/after`);
  await expect.poll(() => linesOf(path)).toMatchObject([{ object: 'after' }]);
  expect(await linesOf(`${path}.1`)).toMatchObject([{ object: 'before' }]);
});

test('every acknowledged change has its line after kill -9', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit.jsonl');
  // Half a line, as a full disk leaves it.
  await writeFile(path, '{"time":"20');
  await using spawned = await spawnFramehold({ dataDir: join(temporary.path, 'data'), flags: ['--audit-file', path] });
  const acknowledged: string[] = [];
  const writer = async (prefix: string): Promise<void> => {
    for (let n = 0; ; n++) {
      const answer = await ask(`${spawned.url}/imp?name=${prefix}${n}`, { method: 'POST', body: 'a\n1\n' });
      if (answer.status === 200) acknowledged.push(`${prefix}${n}`);
    }
  };
  const writers = ['a', 'b', 'c'].map((prefix) => writer(prefix).catch(() => {}));
  await expect.poll(() => acknowledged.length).toBeGreaterThan(10);
  spawned.kill('SIGKILL');
  await Promise.all(writers);
  const text = (await readFile(path, 'utf8')).split('\n').slice(1).join('\n');
  await writeFile(path, text);
  const told = (await linesOf(path)).flatMap((line) =>
    (line.frames as { handle: string }[]).map(({ handle }) => handle),
  );
  expect(told).toEqual(expect.arrayContaining(acknowledged));
});

test('a file that cannot be opened stops the start', async () => {
  await using temporary = await temporaryDirectory();
  await chmod(temporary.path, 0o700);
  const path = join(temporary.path, 'nothing', 'audit.jsonl');
  const start = startFramehold({ settings: { 'audit.file': path } });
  await expect(start).rejects.toThrow(/audit file .* cannot be opened \(ENOENT\)/);
});

test('on_failure without a file stops the start', async () => {
  const start = startFramehold({ settings: { 'audit.on_failure': 'refuse' } });
  await expect(start).rejects.toThrow('audit.on_failure is set (by --audit-on-failure), but audit.file is not');
});
