import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRecords, unlimited } from '../../src/auth/access-records.ts';
import type { Role, Tenant } from '../../src/core/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { FlightClient } from '../support/flight-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { runCommand } from '../support/spawned-command.ts';

/** `acme` shares, `desk` reads, `third` has nothing to do with it. */
const tenants = ['acme', 'desk', 'third'] as const;
type Name = (typeof tenants)[number];

let server: Framehold;
let flight: FlightClient;
const tokens = new Map<string, string>();

const tokenOf = (tenant: Name, role: Role = 'admin'): string => tokens.get(`${tenant} ${role}`) ?? '';
const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });

function as(token: string, method: string, path: string, body?: string): Promise<Answer> {
  return ask(`${server.url}${path}`, { method, headers: headersOf(token), ...(body !== undefined && { body }) });
}
const acme = (method: string, path: string, body?: string) => as(tokenOf('acme'), method, path, body);
const desk = (method: string, path: string, body?: string) => as(tokenOf('desk'), method, path, body);
const third = (method: string, path: string, body?: string) => as(tokenOf('third'), method, path, body);

async function makeToken(tenant: Name, role: Role, prefix?: string): Promise<string> {
  using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
  const wanted = { name: role, role, tenant: tenant as string as Tenant, prefix, expiresAt: undefined };
  return (await records.createToken(wanted)).token;
}

async function untilKnown(token: string): Promise<void> {
  await eventually(async () => (await as(token, 'GET', '/whoami')).status === 200, 2000);
}

const put = async (handle: string, csv: string, more = ''): Promise<void> => {
  expect((await acme('POST', `/imp?name=${handle}${more}`, csv)).status).toBe(200);
};
const share = async (handle: string, tenant = 'desk'): Promise<void> => {
  expect((await acme('PUT', `/handles/${handle}/shares/${tenant}`)).status).toBe(200);
};

/** The answer, but for what differs between any two requests. */
function bare({ status: code, text, headers }: Answer): unknown {
  const { date: _, 'x-request-id': __, ...others } = headers;
  return [code, text.replaceAll(/"requestId":"[^"]*"/g, ''), others];
}

beforeAll(async () => {
  server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
  flight = new FlightClient(server.grpcAddress.port);
  using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
  for (const tenant of tenants) await records.createTenant(tenant as string as Tenant, unlimited(0));
  for (const tenant of tenants) {
    for (const role of ['read', 'write', 'admin'] as const) {
      tokens.set(`${tenant} ${role}`, await makeToken(tenant, role));
    }
  }
  await untilKnown(tokenOf('third'));
  await put('trades', 'price,symbol\n1,A\n2,B\n');
  await put('secret', 'price\n7\n');
  await share('trades');
});

afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

describe('a shared frame', () => {
  test('is read as owner/handle over every door of HTTP', async () => {
    const page = (await desk('GET', '/exec?handle=acme/trades&fmt=json')).json();
    expect(page).toMatchObject({
      query: 'handle:acme/trades',
      dataset: [
        [1, 'A'],
        [2, 'B'],
      ],
      count: 2,
    });
    expect((await desk('GET', '/exec?handle=acme%2Ftrades&fmt=json')).json()).toEqual(page);
    const exported = await desk('GET', '/exp?handle=acme/trades');
    expect([exported.text, exported.headers['content-disposition']]).toEqual([
      'price,symbol\r\n1,A\r\n2,B\r\n',
      'attachment; filename="trades.csv"',
    ]);
    expect((await desk('GET', '/exp?handle=acme/trades&fmt=parquet')).status).toBe(200);
    const described = await desk('GET', '/handles/acme%2Ftrades');
    expect(described.json()).toMatchObject({ handle: 'acme/trades', rows: 2, shared: true });
  });

  test('is read over Flight by path, ticket and command', async () => {
    const headers = headersOf(tokenOf('desk'));
    for (const descriptor of [
      { type: 'PATH', path: ['acme', 'trades'] },
      { type: 'PATH', path: ['acme/trades'] },
      { type: 'CMD', cmd: Buffer.from('{"handle":"acme/trades"}') },
    ]) {
      const { messages } = await flight.info(descriptor, headers);
      expect(messages[0]?.totalRecords).toBe(2);
      const ticket = messages[0]?.endpoint[0]?.ticket.ticket ?? '';
      expect((await flight.get(ticket, headers)).status.code).toBe(status.OK);
      const stranger = await flight.get(ticket, headersOf(tokenOf('third')));
      expect([stranger.status.code, stranger.code]).toEqual([status.NOT_FOUND, 'handle_not_found']);
    }
  });

  test('is changed by its owner alone', async () => {
    const writer = tokenOf('desk', 'write');
    for (const [method, path, body] of [
      ['POST', '/imp?name=acme/trades', 'price,symbol\n3,C\n'],
      ['POST', '/imp?name=acme/trades&append=true', 'price,symbol\n3,C\n'],
      ['POST', '/imp?name=acme/trades&overwrite=true', 'price,symbol\n3,C\n'],
      ['DELETE', '/handles/acme%2Ftrades'],
      ['POST', '/handles/acme%2Ftrades/renew'],
      ['POST', '/sql', '{"sql":"select 1","keep":{"handle":"acme/trades","mode":"overwrite"}}'],
    ] as const) {
      const answer = await as(writer, method, path, body);
      expect([path, answer.status, answer.json().error]).toEqual([
        path,
        403,
        'acme/trades is shared with you to be read: only its owner changes it',
      ]);
      const hidden = await as(writer, method, path.replace('trades', 'secret'), body?.replace('trades', 'secret'));
      expect([hidden.status, hidden.json().code]).toEqual([404, 'handle_not_found']);
    }
    expect((await acme('GET', '/handles/trades')).json()).toMatchObject({ version: 1, rows: 2 });
  });

  test('is shared further by nobody', async () => {
    const answer = await desk('PUT', '/handles/acme%2Ftrades/shares/third');
    expect([answer.status, answer.json().code]).toEqual([403, 'forbidden']);
    expect((await desk('GET', '/handles/acme%2Ftrades/shares')).status).toBe(403);
    expect((await desk('PUT', '/handles/acme%2Fsecret/shares/third')).status).toBe(404);
  });

  test('stays shared when it is overwritten or grows, and each page is of the newest version', async () => {
    await put('growing', 'a\n1\n');
    await share('growing');
    const read = async () => (await desk('GET', '/exec?handle=acme/growing&fmt=json')).json().dataset;
    expect([await read(), await read()]).toEqual([[[1]], [[1]]]);
    await put('growing', 'a\n2\n', '&append=true');
    expect([await read(), await read()]).toEqual([
      [[1], [2]],
      [[1], [2]],
    ]);
    await put('growing', 'a\n9\n', '&overwrite=true');
    expect([await read(), await read()]).toEqual([[[9]], [[9]]]);
  });

  test('lives on by the reads of others', async () => {
    await put('short', 'a\n1\n', '&ttl=1h');
    await share('short');
    const expires = async () => String((await acme('GET', '/handles/short')).json().expires);
    const before = await expires();
    await eventually(async () => {
      await desk('GET', '/exec?handle=acme/short&fmt=json');
      return (await expires()) > before;
    });
  });
});

describe('a frame that is not shared', () => {
  test('is not there, byte for byte, whatever the reason', async () => {
    await put('dropped', 'a\n1\n');
    await share('dropped');
    await acme('DELETE', '/handles/dropped');
    await put('anew', 'a\n1\n');
    await share('anew');
    expect((await desk('GET', '/exec?handle=acme/anew&fmt=json')).status).toBe(200);
    await acme('DELETE', '/handles/anew');
    await put('anew', 'a\n2\n');
    await put('unshared', 'a\n1\n');
    await share('unshared');
    const page = await desk('GET', '/exec?handle=acme/unshared&fmt=json');
    expect(page.status).toBe(200);
    expect((await acme('DELETE', '/handles/unshared/shares/desk')).status).toBe(200);
    for (const template of [
      ['GET', '/exec?handle=X&fmt=json'],
      ['GET', '/exp?handle=X'],
      ['GET', '/exp?handle=X&fmt=parquet&cols=a'],
      ['GET', '/handles/X'],
      ['DELETE', '/handles/X'],
      ['POST', '/handles/X/renew'],
      ['GET', '/handles/X/shares'],
    ] as const) {
      const [method, path] = template;
      const answers = [];
      for (const name of ['acme/never', 'acme/secret', 'acme/dropped', 'acme/anew', 'acme/unshared', 'nobody/trades']) {
        const target = path.replace('X', path.startsWith('/handles') ? encodeURIComponent(name) : name);
        const answer = await desk(method, target);
        expect([name, answer.status, answer.json().code]).toEqual([name, 404, 'handle_not_found']);
        answers.push(
          JSON.stringify(bare(answer))
            .replaceAll(name, 'X')
            .replaceAll(/"content-length":"\d+"/g, ''),
        );
      }
      expect(new Set(answers).size).toBe(1);
    }
    const headers = { ...headersOf(tokenOf('desk')), 'if-none-match': String(page.headers.etag) };
    expect((await ask(`${server.url}/exec?handle=acme/unshared&fmt=json`, { headers })).status).toBe(404);
  });

  test('is told to third parties as one that never was', async () => {
    expect((await third('GET', '/exec?handle=acme/trades&fmt=json')).status).toBe(404);
    expect((await third('DELETE', '/handles/acme%2Ftrades')).status).toBe(404);
    expect((await third('GET', '/exec?handle=trades&fmt=json')).status).toBe(404);
  });

  test('has a name that is refused where it cannot be one', async () => {
    for (const name of ['Acme/trades', 'acme/', '/trades', 'a/b/c', 'frames/trades', 'acme/.x']) {
      const answer = await desk('GET', `/exec?handle=${name}&fmt=json`);
      expect([name, answer.status, answer.json().code]).toEqual([name, 400, 'invalid_handle']);
    }
  });
});

describe('shares', () => {
  test('are listed, made and ended by an admin of the owner', async () => {
    await put('listed', 'a\n1\n');
    const shares = async () => (await acme('GET', '/handles/listed/shares')).json();
    expect(await shares()).toEqual({ shares: [] });
    expect((await acme('PUT', '/handles/listed/shares/third')).json()).toEqual({
      handle: 'listed',
      tenant: 'third',
      shared: true,
    });
    await share('listed');
    await share('listed');
    expect(await shares()).toEqual({ shares: [{ tenant: 'desk' }, { tenant: 'third' }] });
    expect((await acme('DELETE', '/handles/listed/shares/third')).json()).toMatchObject({ shared: false });
    const again = await acme('DELETE', '/handles/listed/shares/third');
    expect([again.status, again.json().error]).toEqual([404, 'listed is not shared with third']);
    expect(await shares()).toEqual({ shares: [{ tenant: 'desk' }] });
    await acme('DELETE', '/handles/listed');
    await put('listed', 'a\n1\n');
    expect(await shares()).toEqual({ shares: [] });
  });

  test('tell nothing of which tenants there are', async () => {
    await put('blind', 'a\n1\n');
    const answers = async (tenant: string) => {
      const path = `/handles/blind/shares/${tenant}`;
      const all = [
        await acme('DELETE', path),
        await acme('PUT', path),
        await acme('GET', '/handles/blind/shares'),
        await acme('DELETE', path),
      ];
      return JSON.stringify(all.map(bare))
        .replaceAll(tenant, 'X')
        .replaceAll(/"content-length":"\d+"/g, '');
    };
    expect(await answers('nobody')).toBe(await answers('third'));
  });

  test.each([
    ['one’s own tenant', '/handles/trades/shares/acme', 400, 'invalid_parameter'],
    ['a name that no tenant can have', '/handles/trades/shares/Desk', 400, 'invalid_parameter'],
    ['a schema of SQL', '/handles/trades/shares/main', 400, 'invalid_parameter'],
    ['a frame that is not there', '/handles/nothing/shares/desk', 404, 'handle_not_found'],
  ])('are not made with %s', async (_, path, code, error) => {
    const answer = await acme('PUT', path);
    expect([answer.status, answer.json().code]).toEqual([code, error]);
  });

  test('are not made by a token whose prefix the handle does not have', async () => {
    const token = await makeToken('acme', 'admin', 'eu.');
    await untilKnown(token);
    expect((await as(token, 'PUT', '/handles/trades/shares/third')).status).toBe(403);
  });
});

test('a prefix holds for the name as the caller writes it', async () => {
  const tokenFor = async (prefix: string) => {
    const token = await makeToken('desk', 'read', prefix);
    await untilKnown(token);
    return token;
  };
  const path = '/exec?handle=acme/trades&fmt=json';
  expect((await as(await tokenFor('trades'), 'GET', path)).status).toBe(403);
  expect((await as(await tokenFor('acme/'), 'GET', path)).status).toBe(200);
});

test('one’s own frames also have the name owner/handle', async () => {
  expect((await acme('GET', '/handles/acme%2Fsecret')).json()).toMatchObject({ handle: 'secret', rows: 1 });
  const token = await makeToken('acme', 'read', 'acme/');
  await untilKnown(token);
  expect((await as(token, 'GET', '/handles/acme%2Fsecret')).status).toBe(403);
});

test('an unshare at one server holds at another within a second', async () => {
  await put('far', 'a\n1\n');
  await share('far');
  await using other = await startFramehold({ dataDir: server.dataDir, settings: { 'auth.enabled': 'true' } });
  const read = () => ask(`${other.url}/exec?handle=acme/far&fmt=json`, { headers: headersOf(tokenOf('desk')) });
  await eventually(async () => (await read()).status === 200, 2000);
  await acme('DELETE', '/handles/far/shares/desk');
  await eventually(async () => (await read()).status === 404, 1000);
});

describe('the command line', () => {
  const run = (tenant: Name, ...argv: string[]) =>
    runCommand(argv, {
      cwd: server.dataDir,
      env: { FRAMEHOLD_SERVER: server.url, FRAMEHOLD_TOKEN: tokenOf(tenant) },
    });

  test('shares, lists and unshares, and gets what is shared', async () => {
    await put('cli', 'a\n1\n');
    expect(await run('acme', 'share', 'cli', '--with', 'desk')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'cli is shared with desk\n',
    });
    expect((await run('acme', 'share', 'cli')).stdout).toBe('desk\n');
    expect((await run('desk', 'get', 'acme/cli')).stdout).toContain('1');
    expect(await run('acme', 'unshare', 'cli', '--with', 'desk')).toMatchObject({
      status: 0,
      stderr: 'cli is not shared with desk any more\n',
    });
    expect((await run('acme', 'share', 'cli')).stdout).toBe('');
    expect((await run('desk', 'get', 'acme/cli')).stderr).toContain('no frame is held as acme/cli');
    expect(await run('acme', 'unshare', 'cli')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('unshare needs --with'),
    });
  });
});
