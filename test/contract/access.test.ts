import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noLimits } from '../../src/auth/tenant-record.ts';
import { generateToken } from '../../src/auth/token.ts';
import type { Tenant } from '../../src/core/callers/principal.ts';
import {
  type CallerName,
  type ClosedServer,
  callers,
  isUnknown,
  mayFrom,
  startClosedServer,
} from '../support/closed-server.ts';
import { FlightClient, gather } from '../support/flight-client.ts';
import { eventually } from '../support/frame-store.ts';
import type { Framehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

let closed: ClosedServer;
let server: Framehold;
let flight: FlightClient;

const as: ClosedServer['as'] = (...request) => closed.as(...request);

beforeAll(async () => {
  closed = await startClosedServer();
  ({ server } = closed);
  flight = new FlightClient(server.grpcAddress.port);
  await as(closed.token('writer'), 'POST', '/imp?name=trades', 'price,symbol\n1,A\n2,B\n');
});

afterAll(async () => {
  flight[Symbol.dispose]();
  await closed[Symbol.asyncDispose]();
});

/** The least caller that may; `stranger`: anybody. A request that changes something is one that is refused for another reason. */
const rules: Readonly<
  Record<string, { readonly least: CallerName | 'known'; readonly path?: string; readonly body?: string }>
> = {
  'GET /ping': { least: 'stranger' },
  'GET /livez': { least: 'stranger' },
  'GET /readyz': { least: 'known' },
  'GET /metrics': { least: 'operator' },
  'GET /exec': { least: 'reader', path: '/exec?handle=trades&fmt=json' },
  'GET /exp': { least: 'reader', path: '/exp?handle=trades' },
  'GET /frames/{handle}.{format}': { least: 'reader', path: '/frames/trades.csv' },
  'GET /frames/{owner}/{handle}.{format}': { least: 'reader', path: '/frames/other/none.csv' },
  'POST /imp': { least: 'writer', path: '/imp?name=trades', body: 'a\n1\n' },
  'PUT /imp': { least: 'writer', path: '/imp?name=trades', body: 'a\n1\n' },
  'POST /write': { least: 'writer', body: 'nothing' },
  'POST /api/v2/write': { least: 'writer', body: 'nothing' },
  'GET /settings': { least: 'stranger' },
  'GET /handles': { least: 'reader' },
  'GET /handles/{handle}': { least: 'reader', path: '/handles/trades' },
  'DELETE /handles/{handle}': { least: 'writer', path: '/handles/nothing' },
  'GET /handles/{handle}/rows': { least: 'reader', path: '/handles/trades/rows' },
  'GET /handles/{handle}/profile': { least: 'reader', path: '/handles/trades/profile?column=price' },
  'POST /handles/{handle}/flush': { least: 'writer', path: '/handles/nothing/flush' },
  'POST /handles/{handle}/renew': { least: 'writer', path: '/handles/nothing/renew' },
  'GET /handles/{handle}/shares': { least: 'admin', path: '/handles/nothing/shares' },
  'PUT /handles/{handle}/shares/{tenant}': { least: 'admin', path: '/handles/nothing/shares/other' },
  'DELETE /handles/{handle}/shares/{tenant}': { least: 'admin', path: '/handles/nothing/shares/other' },
  'POST /sql': { least: 'reader', body: '{"sql":"select 1"}' },
  'POST /plot': { least: 'reader', body: '{"sql":"select 1 as n","y":"n"}' },
  'GET /queries': { least: 'reader' },
  'DELETE /queries/{id}': { least: 'reader', path: '/queries/none' },
  'GET /engines': { least: 'reader' },
  'GET /info': { least: 'known' },
  'GET /whoami': { least: 'reader' },
  'POST /tickets': { least: 'reader', body: '{"path":"/exp?handle=trades"}' },
  'GET /stats': { least: 'reader' },
  'GET /config': { least: 'operator' },
  'GET /tokens': { least: 'admin' },
  'POST /tokens': { least: 'admin', body: '{}' },
  'POST /tokens/{id}/rotate': { least: 'admin', path: '/tokens/none/rotate' },
  'DELETE /tokens/{id}': { least: 'admin', path: '/tokens/none' },
  'GET /tenants': { least: 'operator' },
  'POST /tenants': { least: 'operator', body: '{}' },
  'PATCH /tenants/{name}': { least: 'operator', path: '/tenants/none', body: '{}' },
  'DELETE /tenants/{name}': { least: 'operator', path: '/tenants/none' },
  'GET /openapi.json': { least: 'reader' },
};

test('every route and method has a rule', async () => {
  const { paths } = (await as(closed.token('operator'), 'GET', '/openapi.json')).json() as {
    paths: Record<string, object>;
  };
  const offered = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['get', 'post', 'put', 'delete', 'patch'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(rules).sort()).toEqual(offered.sort());
});

describe.each(Object.entries(rules))('%s', (operation, { least, path: given, body }) => {
  const [method = '', template = ''] = operation.split(' ');
  test.each(callers)(`as %s is served from ${least} on`, async (caller) => {
    const answer = await as(closed.token(caller), method, given ?? template, body);
    if (least === 'stranger' || (least === 'known' && caller === 'stranger')) expect(answer.status).toBe(200);
    else if (isUnknown(caller)) expect([answer.status, answer.json().code]).toEqual([401, 'unauthenticated']);
    else if (least !== 'known' && !mayFrom(least, caller))
      expect([answer.status, answer.json().code]).toEqual([403, 'forbidden']);
    else expect([401, 403]).not.toContain(answer.status);
  });
});

describe('a frame of another tenant, by the name of its owner,', () => {
  const named = Object.entries(rules).filter(([, { path = '' }]) => /trades|nothing/.test(path));
  const askFor = (
    token: string | undefined,
    [operation, { path = '', body }]: (typeof named)[number],
    handle: string,
  ) => as(token, operation.split(' ')[0] ?? '', path.replace(/trades|nothing/, `default%2F${handle}`), body);
  let friend: string;

  beforeAll(async () => {
    const tenant = 'friend' as Tenant;
    await closed.records.createTenant(tenant, noLimits);
    friend = (await closed.makeToken('admin', { tenant })).token;
    await closed.untilKnown(friend);
    expect((await as(closed.token('admin'), 'PUT', '/handles/trades/shares/friend')).status).toBe(200);
  });

  test.each(named)('at %s is not there for those it is not shared with, like one that never was', async (...row) => {
    const bare = async (handle: string) => {
      const { status: code, headers, text } = await askFor(closed.token('otherTenant'), row, handle);
      const { date: _, 'x-request-id': __, ...others } = headers;
      return [code, text.replaceAll(handle, 'x'), { ...others, 'content-length': undefined }];
    };
    const there = await bare('trades');
    expect(there[0]).toBe(404);
    expect(there).toEqual(await bare('never'));
  });

  test.each(named)('at %s may be read by those it is shared with, and not changed', async (...row) => {
    const answer = await askFor(friend, row, 'trades');
    if (row[1].least === 'reader') expect(answer.status).toBe(200);
    else expect([answer.status, answer.json().code]).toEqual([403, 'forbidden']);
  });
});

test('a 401 challenges by Bearer, and says whether a token was wrong', async () => {
  const stranger = await as(undefined, 'GET', '/handles');
  expect(stranger.headers['www-authenticate']).toBe('Bearer realm="framehold"');
  const wrong = await as(generateToken(), 'GET', '/handles');
  expect(wrong.headers['www-authenticate']).toBe('Bearer realm="framehold", error="invalid_token"');
  expect(wrong.json()).toMatchObject({ code: 'unauthenticated', error: 'the token is unknown or revoked' });
});

test('strangers learn nothing of paths and frames: every path is 401', async () => {
  for (const path of ['/nothing', '/handles/trades', '/handles/none', '/exec?handle=none', '/exec']) {
    const answer = await as(undefined, 'GET', path);
    expect([answer.status, answer.json().error]).toEqual([401, 'no credentials were sent']);
  }
});

test('info tells strangers the name, the gRPC address and what to show, and no version', async () => {
  const { port } = server.grpcAddress;
  expect((await as(undefined, 'GET', '/info')).json()).toEqual({
    name: 'framehold',
    grpc: { host: '127.0.0.1', port, tls: false },
    credentials: ['token'],
  });
  expect((await as(closed.token('reader'), 'GET', '/info')).json()).toHaveProperty('version');
});

test('whoami tells what a token gives', async () => {
  expect((await as(closed.token('writer'), 'GET', '/whoami')).json()).toMatchObject({
    tenant: 'default',
    name: 'write',
    role: 'write',
    prefix: null,
    credential: 'token',
    expires: null,
  });
});

test('the password of Basic may be the token, whoever the user is', async () => {
  const authorization = `Basic ${Buffer.from(`anyone:${closed.token('reader')}`).toString('base64')}`;
  expect((await ask(`${server.url}/exec?handle=trades&fmt=json`, { headers: { authorization } })).status).toBe(200);
});

test('a reader changes nothing by SQL', async () => {
  for (const sql of ['create table t as select 1 a', 'drop table trades', "insert into trades values (3,'C')"]) {
    const answer = await as(closed.token('reader'), 'POST', '/sql', JSON.stringify({ sql }));
    expect([sql, answer.status, answer.json().code]).toEqual([sql, 403, 'forbidden']);
  }
  const kept = await as(closed.token('reader'), 'POST', '/sql', '{"sql":"select 1","keep":{"handle":"kept"}}');
  expect(kept.status).toBe(403);
  expect((await as(closed.token('reader'), 'GET', '/exec?handle=trades&fmt=json')).json().count).toBe(2);
});

test('a token with a prefix sees and changes only handles that begin so', async () => {
  const { token } = await closed.makeToken('write', { prefix: 'eu.' });
  await closed.untilKnown(token);
  expect((await as(token, 'POST', '/imp?name=eu.a', 'a\n1\n')).status).toBe(200);
  for (const [method, path, body] of [
    ['GET', '/exec?handle=trades&fmt=json'],
    ['GET', '/exec?handle=none&fmt=json'],
    ['GET', '/handles/trades'],
    ['DELETE', '/handles/trades'],
    ['POST', '/imp?name=us.a', 'a\n1\n'],
    ['POST', '/imp', 'a\n1\n'],
    ['POST', '/sql', '{"sql":"select * from trades"}'],
  ] as const) {
    const answer = await as(token, method, path, body);
    expect([path, answer.status, answer.json().error]).toEqual([
      path,
      403,
      'your token is for handles that begin with eu.',
    ]);
  }
  const { handles } = (await as(token, 'GET', '/handles')).json() as { handles: { handle: string }[] };
  expect(handles.map(({ handle }) => handle)).toEqual(['eu.a']);
});

test('a token with a prefix manages no tokens, and sees only its own statements', async () => {
  const { token } = await closed.makeToken('admin', { prefix: 'eu.' });
  await closed.untilKnown(token);
  const [other] = (await as(closed.token('admin'), 'GET', '/tokens')).json().tokens as { id: string }[];
  for (const [method, path, body] of [
    ['GET', '/tokens'],
    ['POST', '/tokens', '{"name":"x","role":"read","prefix":"eu."}'],
    ['POST', `/tokens/${other?.id}/rotate`, '{}'],
    ['DELETE', `/tokens/${other?.id}`],
  ] as const) {
    expect([path, (await as(token, method, path, body)).status]).toEqual([path, 403]);
  }
});

test('a token is made and revoked over HTTP, its secret shown once', async () => {
  const admin = closed.token('admin');
  const made = (
    await as(admin, 'POST', '/tokens', '{"name":"ci","role":"write","expires":"90d","prefix":"ci."}')
  ).json();
  expect(made).toMatchObject({
    name: 'ci',
    role: 'write',
    prefix: 'ci.',
    tenant: 'default',
    token: expect.stringMatching(/^fh_/),
  });
  expect((await as(String(made.token), 'GET', '/whoami')).json()).toMatchObject({ name: 'ci', expires: made.expires });
  const listed = await as(admin, 'GET', '/tokens');
  expect(listed.text).toContain(String(made.id));
  expect(listed.text).not.toContain(String(made.token));
  expect((await as(admin, 'DELETE', `/tokens/${made.id}`)).status).toBe(200);
  expect((await as(String(made.token), 'GET', '/whoami')).status).toBe(401);
  expect((await as(admin, 'DELETE', `/tokens/${made.id}`)).status).toBe(404);
});

test.each([
  ['a role above one’s own', '{"name":"x","role":"operator"}', 403],
  ['no role', '{"name":"x"}', 400],
  ['an unknown role', '{"name":"x","role":"root"}', 400],
  ['an empty name', '{"name":" ","role":"read"}', 400],
  ['an unknown key', '{"name":"x","role":"read","group":"other"}', 400],
  ['the name of another tenant', '{"name":"x","role":"read","tenant":"other"}', 403],
])('an admin makes no token with %s', async (_, body, code) => {
  expect((await as(closed.token('admin'), 'POST', '/tokens', body)).status).toBe(code);
});

describe('over Flight', () => {
  test.each(callers)('ListFlights serves %s only with a good token', async (caller) => {
    const { status: ended } = await flight.list('', closed.headers(caller));
    expect(ended.code).toBe(isUnknown(caller) ? status.UNAUTHENTICATED : status.OK);
  });

  test('a handshake with Basic gives back the token itself, which works as Bearer', async () => {
    const token = closed.token('reader') ?? '';
    const authorization = `Basic ${Buffer.from(`me:${token}`).toString('base64')}`;
    const call = flight.handshake({ authorization });
    const answer = gather(call);
    call.end();
    expect((await answer).headers.get('authorization')).toEqual([`Bearer ${token}`]);
  });

  test('a handshake with a wrong password fails, and tells no token', async () => {
    const call = flight.handshake({ authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` });
    const answer = gather(call);
    call.end();
    const { status: ended, headers } = await answer;
    expect(ended.code).toBe(status.UNAUTHENTICATED);
    expect(headers.get('authorization')).toEqual([]);
  });
});

test('no token stands in the log', () => {
  const log = server.log();
  for (const caller of callers.slice(1)) expect(log).not.toContain(closed.token(caller));
});

test('a caller sees and cancels its own statements, an admin those of all', async () => {
  const sql = 'select count(*) from range(100000000000)';
  const id = 'a-long-one';
  const headers = { authorization: `Bearer ${closed.token('reader')}`, 'x-request-id': id };
  const running = ask(`${server.url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) });
  const listed = async (caller: CallerName) => (await as(closed.token(caller), 'GET', '/queries')).text.includes(id);
  await eventually(() => listed('reader'));
  expect([await listed('writer'), await listed('admin')]).toEqual([false, true]);
  expect((await as(closed.token('writer'), 'DELETE', `/queries/${id}`)).status).toBe(404);
  expect((await as(closed.token('admin'), 'DELETE', `/queries/${id}`)).status).toBe(200);
  expect((await running).json()).toMatchObject({ code: 'sql_cancelled' });
});

test('the list of tokens tells the day of their last use', async () => {
  const { token, record } = await closed.makeToken('read');
  const lastUsed = async () => {
    const { tokens } = (await closed.as(closed.token('admin'), 'GET', '/tokens')).json() as {
      tokens: { id: string; last_used: string | null }[];
    };
    return tokens.find(({ id }) => id === record.id)?.last_used;
  };
  await expect.poll(lastUsed).toBe(null);
  await closed.untilKnown(token);
  await expect.poll(lastUsed).toBe(new Date().toISOString().slice(0, 10));
});
