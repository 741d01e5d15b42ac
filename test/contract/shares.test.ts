import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { noLimits } from '../../src/auth/tenant-record.ts';
import type { Role, Tenant } from '../../src/core/callers/principal.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { FlightClient } from '../support/flight-client.ts';
import { type FieldValue, FlightSqlClient, proto } from '../support/flight-sql-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { principalOf } from '../support/principals.ts';
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
  for (const tenant of tenants) await records.createTenant(tenant as string as Tenant, noLimits);
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
    for (const path of ['/frames/acme/trades.csv', '/frames/acme%2Ftrades.csv']) {
      expect((await desk('GET', path)).text).toBe(exported.text);
      expect((await third('GET', path)).json().code).toBe('handle_not_found');
      expect((await desk('GET', path.replace('trades', 'secret'))).json().code).toBe('handle_not_found');
    }
    const described = await desk('GET', '/handles/acme%2Ftrades');
    expect(described.json()).toMatchObject({ handle: 'acme/trades', rows: 2, shared: true });
  });

  test('has a page for each of its names, whoever asked before', async () => {
    await put('named', 'price\n1\n');
    await share('named');
    for (let round = 0; round < 3; round++) {
      for (const [ask, name] of [
        [desk, 'acme/named'],
        [acme, 'named'],
        [acme, 'acme/named'],
      ] as const) {
        expect((await ask('GET', `/exec?handle=${name}&fmt=json`)).json().query).toBe(`handle:${name}`);
      }
    }
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

  test('ends when the frame expires, and its record with it', async () => {
    await put('soon.gone', 'a\n1\n', '&ttl=1s');
    await share('soon.gone');
    using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
    const sharesOf = async () => {
      await records.refresh();
      return records.shares.ofFrame('acme' as Tenant, parseHandle('soon.gone'));
    };
    expect(await sharesOf()).toHaveLength(1);
    await expect.poll(sharesOf, { timeout: 10_000 }).toHaveLength(0);
  });

  test('is not there when its record stayed and another frame came under its handle', async () => {
    await put('expired', 'a\n1\n');
    await share('expired');
    const page = '/exec?handle=acme/expired&fmt=json';
    expect([(await desk('GET', page)).status, (await desk('GET', page)).status]).toEqual([200, 200]);
    using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
    const record = { owner: 'acme' as Tenant, handle: parseHandle('expired'), reader: 'desk' as Tenant };
    const origin = await records.shares.originOf(record);
    await server.frames.drop(principalOf('acme'), parseHandle('expired'));
    expect((await desk('GET', page)).status).toBe(404);
    // As it stays where the frame goes while there is no authentication.
    await records.shares.add(record, origin ?? '');
    await untilKnown(await makeToken('desk', 'read'));
    await put('expired', 'a\n2\n');
    for (let read = 0; read < 3; read++) {
      expect((await acme('GET', '/exec?handle=expired&fmt=json')).json().dataset).toEqual([[2]]);
      expect((await desk('GET', page)).status).toBe(404);
    }
    expect((await sql(tokenOf('desk'), 'select * from acme.expired')).json().code).toBe('sql_error');
    expect((await acme('GET', '/handles/expired/shares')).json()).toEqual({ shares: [] });
    expect((await desk('GET', '/handles?prefix=acme/exp')).json()).toEqual({ handles: [], next: null });
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
  for (const name of ['secret', 'acme.secret', 'frames.secret']) {
    expect([name, await rowsOf(tokenOf('acme'), `select price from ${name}`)]).toEqual([name, [[7]]]);
  }
  const write = tokenOf('acme', 'write');
  expect((await sql(write, 'create table acme.mine as select 1 as a')).status).toBe(200);
  expect((await as(write, 'POST', '/imp?name=acme/mine&append=true', 'a\n2\n')).status).toBe(200);
  expect((await sql(write, 'create or replace table acme.mine as select max(a) as a from mine')).status).toBe(200);
  expect(await rowsOf(write, 'select a from mine')).toEqual([[2]]);
  expect((await as(write, 'DELETE', '/handles/acme%2Fmine')).status).toBe(200);
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

const sql = (token: string, text: string) => as(token, 'POST', '/sql', JSON.stringify({ sql: text, format: 'json' }));
const rowsOf = async (token: string, text: string) => {
  const answer = await sql(token, text);
  return answer.status === 200 ? answer.json().dataset : answer.json();
};

describe('in SQL', () => {
  const reader = () => tokenOf('desk', 'read');

  test('a shared frame is owner.handle, in any case and with the catalog', async () => {
    for (const name of ['acme.trades', 'ACME.TRADES', '"acme"."trades"', 'framehold.acme.trades']) {
      expect([name, await rowsOf(reader(), `select sum(price)::int as s from ${name}`)]).toEqual([name, [[3]]]);
    }
    expect(await rowsOf(reader(), 'select acme.trades.price p from acme.trades order by 1')).toEqual([[1], [2]]);
    expect(await rowsOf(reader(), 'with trades as (select 9 as price) select price from trades')).toEqual([[9]]);
    expect(await rowsOf(reader(), 'with trades as (select 9 as price) select max(price) from acme.trades')).toEqual([
      [2],
    ]);
    expect((await sql(reader(), 'describe acme.trades')).status).toBe(200);
  });

  test('an own frame and a shared one of the same name, in whatever case, are not mixed up', async () => {
    expect((await desk('POST', '/imp?name=Trades', 'price,symbol\n100,Z\n')).status).toBe(200);
    const text = 'select a.price, b.price from trades a, acme.trades b order by 2';
    for (let run = 0; run < 3; run++) {
      expect(await rowsOf(reader(), text)).toEqual([
        [100, 1],
        [100, 2],
      ]);
      expect(await rowsOf(reader(), 'select price from trades')).toEqual([[100]]);
      expect(await rowsOf(reader(), 'select price from acme.trades order by 1')).toEqual([[1], [2]]);
      expect(await rowsOf(tokenOf('acme'), 'select price from trades order by 1')).toEqual([[1], [2]]);
    }
    await desk('DELETE', '/handles/Trades');
    expect(await rowsOf(reader(), 'select price from trades')).toMatchObject({ code: 'sql_error' });
  });

  test('both are opened where one statement names them first', async () => {
    await put('twin', 'a\n1\n');
    await share('twin');
    await desk('POST', '/imp?name=twin', 'a\n2\n');
    expect(await rowsOf(reader(), 'select x.a, y.a from acme.twin x, twin y')).toEqual([[1, 2]]);
    await desk('DELETE', '/handles/twin');
  });

  test('a frame of a tenant whose name needs quotes is read in quotes', async () => {
    using records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
    const tenant = 'team-a' as Tenant;
    await records.createTenant(tenant, noLimits);
    const wanted = { name: 'x', role: 'admin', tenant, prefix: undefined, expiresAt: undefined } as const;
    const { token } = await records.createToken(wanted);
    await untilKnown(token);
    await as(token, 'POST', '/imp?name=odd-one.x', 'a\n5\n');
    await as(token, 'PUT', '/handles/odd-one.x/shares/desk');
    expect(await rowsOf(reader(), 'select a from "team-a"."odd-one.x"')).toEqual([[5]]);
    expect(await rowsOf(token, 'select a from "team-a"."odd-one.x"')).toEqual([[5]]);
  });

  test('a table that is not shared is told like one that never was', async () => {
    const answers = [];
    for (const name of ['acme.never', 'acme.secret', 'nobody.trades', 'warm_1.frame', 'default.t']) {
      const quoted = name.replace('default', '"default"');
      const answer = await sql(reader(), `select * from ${quoted}`);
      expect([name, answer.status, answer.json().code]).toEqual([name, 400, 'sql_error']);
      answers.push(
        String(answer.json().error)
          .replace(name, 'X')
          .replace(/; did you mean.*/, ''),
      );
    }
    expect(new Set(answers)).toEqual(new Set(['table "X" not found']));
    expect((await sql(tokenOf('third'), 'select * from acme.trades')).json().error).toBe(
      'table "acme.trades" not found',
    );
    const meant = (await sql(reader(), 'select * from acme.trade')).json();
    expect(meant.error).toBe('table "acme.trade" not found; did you mean "acme.trades"?');
    expect((await sql(tokenOf('third'), 'select * from acme.trade')).json().error).not.toContain('mean');
  });

  test('a shared frame is not changed', async () => {
    const writer = tokenOf('desk', 'write');
    for (const text of [
      "insert into acme.X values (3, 'C')",
      'create table acme.X as select 1 a',
      'create or replace table acme.X as select 1 a',
      'create table if not exists framehold.acme.X as select 1 a',
      'drop table acme.X',
      'drop table if exists ACME.X',
    ]) {
      const answer = await sql(writer, text.replace('X', 'trades'));
      expect([text, answer.status, answer.json().error]).toEqual([
        text,
        403,
        'acme/trades is shared with you to be read: only its owner changes it',
      ]);
      const hidden = await sql(writer, text.replace('X', 'secret'));
      const never = await sql(writer, text.replace('X', 'never2'));
      expect(hidden.text.replaceAll('secret', '')).toBe(never.text.replaceAll('never2', ''));
      if (!text.includes('if exists')) expect([text, hidden.json().code]).toEqual([text, 'handle_not_found']);
    }
    expect(await rowsOf(tokenOf('acme'), 'select count(*) from trades')).toEqual([[2]]);
  });

  test('what is made of a shared frame is the reader’s own', async () => {
    const writer = tokenOf('desk', 'write');
    expect((await sql(writer, 'create table copied as select * from acme.trades')).status).toBe(200);
    expect(await rowsOf(writer, 'select count(*) from copied')).toEqual([[2]]);
    expect((await acme('GET', '/handles/copied')).status).toBe(404);
    await desk('DELETE', '/handles/copied');
  });

  test('the end of a share ends every way to read by SQL, also of texts that ran before', async () => {
    await put('brief', 'a\n4\n');
    await share('brief');
    const text = 'select a from acme.brief';
    for (let run = 0; run < 5; run++) expect(await rowsOf(reader(), text)).toEqual([[4]]);
    await acme('DELETE', '/handles/brief/shares/desk');
    expect(await rowsOf(reader(), text)).toMatchObject({ code: 'sql_error', error: 'table "acme.brief" not found' });
    for (const trick of [
      'with brief as (select 1 a) select * from recurring.brief',
      'select a from frames.brief',
      'select a from framehold.frames.brief',
      'select a from brief',
      'select brief.b from acme.brief',
    ]) {
      expect([trick, (await sql(reader(), trick)).status === 200]).toEqual([trick, false]);
    }
  });

  test('an error about a column names those of the frame that is meant', async () => {
    await desk('POST', '/imp?name=trades', 'prism\n1\n');
    expect(await rowsOf(reader(), 'select trades.prism from trades')).toEqual([[1]]);
    const answer = (await sql(reader(), 'select trades.pric from acme.trades')).json();
    expect(answer.error).toContain('price');
    expect(answer.error).not.toContain('prism');
    await desk('DELETE', '/handles/trades');
  });

  test('SHOW TABLES lists what is shared as SQL names it', async () => {
    const rows = (await rowsOf(reader(), 'show tables')) as string[][];
    expect(rows.map(([name]) => name)).toContain('acme.trades');
    expect(await rowsOf(tokenOf('third'), 'show tables')).toEqual([]);
  });
});

describe('over Flight SQL', () => {
  const client = (tenant: Name) => new FlightSqlClient(server.grpcAddress.port, headersOf(tokenOf(tenant, 'write')));

  test('the owner is a schema of the catalog framehold, and what it shares its tables, to be read', async () => {
    using reader = client('desk');
    using stranger = client('third');
    const frames = { catalog_name: 'framehold', db_schema_name: 'frames' };
    const acmes = { catalog_name: 'framehold', db_schema_name: 'acme' };
    expect(await reader.ask('CommandGetDbSchemas')).toEqual(expect.arrayContaining([acmes, frames]));
    expect(await stranger.ask('CommandGetDbSchemas')).not.toContainEqual(acmes);
    expect(await reader.ask('CommandGetTables', [2, 'acme'], [3, 'tr%'])).toEqual([
      { ...acmes, table_name: 'trades', table_type: 'TABLE' },
    ]);
    expect(await stranger.ask('CommandGetTables')).toEqual([]);
    const [row] = await reader.ask('CommandGetTables', [2, 'acme'], [3, 'trades'], [5, true]);
    const metadata = tableFromIPC(row?.table_schema as Uint8Array).schema.fields[0]?.metadata;
    expect(metadata?.get('ARROW:FLIGHT:SQL:IS_READ_ONLY')).toBe('1');
  });

  test('a prepared statement reads a shared frame until the share ends', async () => {
    await put('prepared', 'a\n6\n');
    await share('prepared');
    using reader = client('desk');
    const { handle } = await reader.prepare('select a from acme.prepared');
    expect(await reader.execute(handle)).toEqual([{ a: 6n }]);
    const info = await reader.info('CommandStatementQuery', [1, 'select a from acme.prepared']);
    await acme('DELETE', '/handles/prepared/shares/desk');
    await expect(reader.execute(handle)).rejects.toThrow('table "acme.prepared" not found');
    await expect(reader.fetch(info)).rejects.toThrow('table "acme.prepared" not found');
  });

  test('rows are ingested into no schema of another tenant', async () => {
    using writer = client('desk');
    const target = (schema: string): FieldValue[] => [
      [1, proto([1, 1], [2, 2])],
      [2, 'trades'],
      [3, schema],
    ];
    const rows = tableToIPC(tableFromArrays({ price: [1] }), 'stream');
    const failure = (schema: string) => writer.update('CommandStatementIngest', target(schema), rows);
    await expect(failure('acme')).rejects.toThrow('there is no schema "acme" to ingest into');
    await expect(failure('nobody')).rejects.toThrow('there is no schema "nobody" to ingest into');
  });
});

describe('a list', () => {
  const handlesOf = async (token: string, query = '') => {
    const page = (await as(token, 'GET', `/handles${query}`)).json() as {
      handles: { handle: string; shared?: boolean }[];
      next: string | null;
    };
    return { ...page, names: page.handles.map(({ handle }) => handle) };
  };

  beforeAll(async () => {
    for (const name of ['a', 'acme-own', 'acme.own', 'acmf', 'z']) await desk('POST', `/imp?name=${name}`, 'a\n1\n');
    for (const name of ['one', 'two']) {
      await put(`list.${name}`, 'a\n1\n');
      await share(`list.${name}`);
    }
    await put('list.gone', 'a\n1\n');
    await share('list.gone');
    await acme('DELETE', '/handles/list.gone');
  });

  test('has the shared frames among the own ones, in the order of names, page by page', async () => {
    const all = await handlesOf(tokenOf('desk'));
    expect(all.names).toEqual([...all.names].sort());
    expect(all.names).toEqual(expect.arrayContaining(['a', 'acme-own', 'acme.own', 'acme/list.one', 'acmf', 'z']));
    expect(all.names).not.toContain('acme/list.gone');
    for (const { handle, shared } of all.handles)
      expect([handle, shared]).toEqual([handle, handle.includes('/') || undefined]);
    for (const order of ['handle', '-handle', 'rows', '-created', 'bytes']) {
      const whole = (await handlesOf(tokenOf('desk'), `?order=${order}`)).names;
      const paged: string[] = [];
      for (let after = ''; ; ) {
        const page = await handlesOf(tokenOf('desk'), `?order=${order}&limit=2${after}`);
        paged.push(...page.names);
        if (page.next === null) break;
        after = `&after=${encodeURIComponent(page.next)}`;
      }
      expect(paged).toEqual(whole);
    }
  });

  test('takes the owner as prefix, and keeps to the prefix of a token', async () => {
    const listed = ['acme/list.one', 'acme/list.two'];
    expect((await handlesOf(tokenOf('desk'), '?prefix=acme/list.')).names).toEqual(listed);
    const token = await makeToken('desk', 'read', 'acme/list');
    await untilKnown(token);
    expect((await handlesOf(token)).names).toEqual(listed);
    const own = await makeToken('desk', 'read', 'z');
    await untilKnown(own);
    expect((await handlesOf(own)).names).toEqual(['z']);
  });

  test('of Flight has them by paths of two parts, which are good for reading', async () => {
    const headers = headersOf(tokenOf('desk'));
    const { messages } = await flight.list('acme/list.', headers);
    expect(messages.map(({ flightDescriptor }) => flightDescriptor.path)).toEqual([
      ['acme', 'list.one'],
      ['acme', 'list.two'],
    ]);
    const ticket = messages[0]?.endpoint[0]?.ticket.ticket ?? '';
    expect((await flight.get(ticket, headers)).status.code).toBe(status.OK);
    expect((await flight.list('', headersOf(tokenOf('third')))).messages).toEqual([]);
  });

  test('of the command line has them', async () => {
    const env = { FRAMEHOLD_SERVER: server.url, FRAMEHOLD_TOKEN: tokenOf('desk') };
    const { stdout } = await runCommand(['ls', 'acme/list'], { cwd: server.dataDir, env });
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['acme/list.one', 'acme/list.two', '']);
  });
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
    for (const format of ['csv', 'parquet', 'arrow']) {
      const got = await run('desk', 'get', 'acme/cli', '--format', format);
      expect([format, got.status, got.stdoutBytes.length > 0]).toEqual([format, 0, true]);
    }
    expect((await run('desk', 'info', 'acme/cli')).stdout).toContain('acme/cli');
    expect((await run('desk', 'sql', 'select a from acme.cli')).stdout).toContain('1');
    expect((await run('desk', 'rm', 'acme/cli')).stderr).toContain('only its owner changes it');
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
