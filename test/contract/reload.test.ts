import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { constants } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { namedTables } from '../../src/config/named-tables.ts';
import { settingRows } from '../../src/config/setting-rows.ts';
import { defaultTenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { FlightClient, gather } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, type AskOptions, ask } from '../support/http-client.ts';
import { TestIssuer } from '../support/issuer.ts';
import { catchesSignal } from '../support/process-facts.ts';
import { beginFramehold, type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { makeTlsFiles, serverNames, writePair } from '../support/tls-framehold.ts';

/** A running server, and those who ask it. */
interface Lab {
  readonly server: SpawnedFramehold;
  readonly issuer: TestIssuer;
  /** With a token of the role admin. */
  ask(path: string, more?: AskOptions): Promise<Answer>;
  askWith(authorization: string | undefined, path: string): Promise<Answer>;
  askWithCertificate(path: string): Promise<Answer>;
  /** Whether the log has this text soon. */
  logs(text: string): Promise<boolean>;
  /** A request under way, until it is ended by the result. */
  hold(): Promise<() => Promise<unknown>>;
}

/** How a setting that can be reloaded is seen at work, from outside. */
interface Proof {
  /** As TOML. Undefined: unset. */
  readonly before?: string;
  readonly after: string;
  isInForce(lab: Lab): Promise<boolean>;
}

const endless = JSON.stringify({ sql: 'select count(*) from range(100000000000)' });

const proofs: Readonly<Record<string, Proof>> = {
  'http.hosts': {
    after: '["frames.example.com"]',
    isInForce: async (lab) => (await lab.ask('/ping', { headers: { host: 'frames.example.com' } })).status === 200,
  },
  'http.cors_origins': {
    after: '["https://app.example.com"]',
    isInForce: async (lab) => {
      const { headers } = await lab.ask('/ping', { headers: { origin: 'https://app.example.com' } });
      return headers['access-control-allow-origin'] === 'https://app.example.com';
    },
  },
  'http.max_concurrent_requests': {
    before: '100',
    after: '2',
    isInForce: async (lab) => {
      const ends = [await lab.hold(), await lab.hold()];
      const { status: third } = await lab.ask('/handles');
      for (const end of ends) await end();
      return third === 503;
    },
  },
  'server.max_followers': {
    before: '100',
    after: '0',
    isInForce: async (lab) => {
      await lab.ask('/imp?name=ticks&overwrite=true', { method: 'POST', body: 'n\n1\n' });
      return (await lab.ask('/handles/ticks/rows?from=end&live=long-poll&wait=0s')).status === 503;
    },
  },
  'sql.slow_threshold': {
    before: '"1h"',
    after: '"1ms"',
    isInForce: async (lab) => {
      const sql = 'select sum(hash(range)) from range(3000000)';
      expect((await lab.ask('/sql', { method: 'POST', body: JSON.stringify({ sql }) })).status).toBe(200);
      return lab.logs('slow statement');
    },
  },
  'auth.anonymous': {
    after: '"default:read"',
    isInForce: async (lab) => (await lab.askWith(undefined, '/handles')).status === 200,
  },
  'auth.issuers': {
    after: '',
    isInForce: async (lab) => {
      return (await lab.askWith(`Bearer ${await lab.issuer.sign()}`, '/whoami')).status === 200;
    },
  },
  'auth.certificates': {
    after: '',
    isInForce: async (lab) => (await lab.askWithCertificate('/whoami')).status === 200,
  },
  'auth.max_failed_logins': {
    before: '1000',
    after: '1',
    isInForce: async (lab) => {
      await lab.askWith('Bearer nothing', '/handles');
      return (await lab.askWith('Bearer nothing', '/handles')).status === 429;
    },
  },
  'logging.level': {
    before: '"info"',
    after: '"info,http=debug"',
    isInForce: async (lab) => {
      await lab.ask('/nowhere', { headers: { 'x-request-id': 'looked-for' } });
      return lab.logs('looked-for');
    },
  },
  'logging.format': {
    before: '"json"',
    after: '"pretty"',
    isInForce: async ({ server }) => /^[^{\n]*reloaded/m.test(server.stderr()),
  },
  // Seen when the server stops.
  'server.shutdown_delay': {
    before: '"0s"',
    after: '"500ms"',
    isInForce: async ({ ask, server }) => {
      server.kill('SIGTERM');
      await expect.poll(() => server.stderr()).toContain('stopping');
      return (await ask('/readyz')).status === 503;
    },
  },
  'server.shutdown_grace': {
    before: '"1h"',
    after: '"300ms"',
    isInForce: async ({ server }) => (await server.exited).code === 0,
  },
};

const atTheEnd = ['server.shutdown_delay', 'server.shutdown_grace'];

test('each setting that the table marks is applied by SIGHUP, and no other has a proof here', async () => {
  const rows = settingRows.filter(({ reload }) => reload === true).map(({ key }) => key);
  const tables = namedTables.filter(({ reload }) => reload).map(({ path }) => path);
  expect(Object.keys(proofs).sort()).toEqual([...rows, ...tables].sort());

  await using folder = await temporaryDirectory();
  const issuer = await TestIssuer.start();
  const configFile = join(folder.path, 'framehold.toml');
  await writeFile(configFile, tomlOf('before'));
  await using lab = await startLab(folder.path, configFile, issuer);
  const { server } = lab;
  const underWay = Object.entries(proofs).filter(([key]) => !atTheEnd.includes(key));
  for (const [key, { isInForce }] of underWay) expect(await isInForce(lab), `${key} before`).toBe(false);

  await writeFile(
    configFile,
    `${tomlOf('after')}
[auth.issuers.corp]
issuer = "${issuer.url}"
audience = "framehold"
tenant = "default"
role_claim = "groups"
roles = { quants = "write" }
[auth.certificates.etl]
cn = "etl"
tenant = "default"
role = "read"
`,
  );
  server.kill('SIGHUP');
  await expect.poll(() => server.stderr()).toContain('reloaded');
  const named = Object.keys(proofs).map((key) => key.replace('issuers', 'issuers.corp').replace('cates', 'cates.etl'));
  for (const name of named) expect(server.stderr()).toContain(name);
  expect(server.stderr()).not.toContain('need a restart');
  for (const [key, { isInForce }] of underWay) expect(await isInForce(lab), `${key} after`).toBe(true);
  const left = lab.ask('/sql', { method: 'POST', body: endless });
  await expect.poll(async () => (await lab.ask('/queries')).text).toContain('100000000000');
  for (const key of atTheEnd) expect(await proofs[key]?.isInForce(lab), `${key} after`).toBe(true);
  expect((await left).status).toBe(503);
  issuer.stop();
});

describe('SIGHUP', () => {
  test('before the start is complete does not end the server, which reloads when it serves', async () => {
    await using folder = await temporaryDirectory();
    const child = beginFramehold({ dataDir: folder.path });
    const [stderr, exited] = [text(child.stderr), once(child, 'exit')];
    let banner = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      banner += piece;
    });
    const pid = child.pid as number;
    await expect.poll(() => catchesSignal(pid, constants.signals.SIGHUP), { interval: 1 }).toBe(true);
    expect(banner).toBe('');
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    await expect.poll(() => banner).toContain('curl');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
    expect(await stderr).toContain('"msg":"reloaded"');
  });

  test('with a wrong file changes nothing and says in one line what a start would say', async () => {
    await using server = await startFramehold({ toml: '[http]\nhosts = ["one.example.com"]' });
    await server.reload('[http]\nhosts = ["two.example.com"]\n[sql]\nslow_threshold = "soon"');
    const [line, ...more] = linesOf(server, 'could not be loaded again');
    expect(more).toEqual([]);
    expect(line).toMatchObject({ level: 'error', msg: expect.stringContaining('sql.slow_threshold is "soon"') });
    expect(await statusAs(server, 'one.example.com')).toBe(200);
    expect(await statusAs(server, 'two.example.com')).toBe(421);
    expect(linesOf(server, 'reloaded')).toEqual([]);
    await server.reload('[http]\nhosts = ["two.example.com"]');
    expect(await statusAs(server, 'two.example.com')).toBe(200);
  });

  test('names the settings that wait for a restart, without their values, and GET /config shows those in force', async () => {
    const url = (password: string): string => `[tsdb]\nhttp_url = "http://user:${password}@127.0.0.1:1"\n`;
    await using server = await startFramehold({ toml: url('first-password') });
    await server.reload(
      `${url('second-password')}[client]\nserver = "http://elsewhere"\n[engines.spark]\nkind = "spark-connect"\nurl = "sc://127.0.0.1"\n[http]\nmax_limit = 5\nhosts = ["a.example.com"]`,
    );
    expect(linesOf(server, 'reloaded')).toMatchObject([{ level: 'info', settings: ['http.hosts'] }]);
    expect(linesOf(server, 'need a restart')).toMatchObject([
      { level: 'warn', settings: ['http.max_limit', 'tsdb.http_url', 'engines.spark'] },
    ]);
    expect(server.log()).not.toContain('-password');
    const { settings } = (await ask(`${server.url}/config`)).json() as { settings: { key: string }[] };
    const shown = new Map(settings.map(({ key, ...rest }) => [key, rest]));
    expect(shown.get('http.hosts')).toEqual({
      ...{ value: 'a.example.com', origin: expect.stringContaining('config.toml:10') },
      ...{ reload: true, needs_restart: false },
    });
    expect(shown.get('http.max_limit')).toMatchObject({ value: null, reload: false, needs_restart: true });
    expect(shown.get('tsdb.http_url')).toMatchObject({ needs_restart: true });
    expect(shown.get('http.max_body')).toMatchObject({ needs_restart: false });
    await server.reload(url('first-password'));
    expect(linesOf(server, 'need a restart')).toHaveLength(1);
  });

  test('takes nothing where what can be reloaded does not go with what cannot', async () => {
    await using server = await startFramehold({ toml: '' });
    await server.reload(
      '[auth]\nenabled = true\nanonymous = "default:read"\n[http]\nhosts = ["a.example.com"]\n[sql]\nslow_threshold = "1s"',
    );
    expect(linesOf(server, 'reloaded')).toMatchObject([{ settings: [] }]);
    expect(linesOf(server, 'need a restart')).toMatchObject([
      {
        settings: ['http.hosts', 'sql.slow_threshold', 'auth.enabled', 'auth.anonymous'],
        because: expect.stringContaining('auth.anonymous is set'),
      },
    ]);
    expect(await statusAs(server, 'a.example.com')).toBe(421);
  });

  test('takes a token that was made just before it', async () => {
    await using server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
    const records = await AccessRecords.open(join(server.dataDir, 'cold'), new DurableFiles());
    const { token } = await records.createToken({
      ...{ name: 'new', role: 'read', tenant: defaultTenant, prefix: undefined, expiresAt: undefined },
    });
    await server.reload();
    const answer = await ask(`${server.url}/handles`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });
});

describe('an issuer', () => {
  const section = (name: string, { url }: TestIssuer, roles: string): string =>
    `[auth.issuers.${name}]\nissuer = "${url}"\naudience = "framehold"\ntenant = "default"\nrole_claim = "groups"\nroles = { ${roles} }\n`;
  const auth = '[auth]\nenabled = true\nmax_failed_logins = 1000\n';

  test('that goes away takes its JWTs and their streams along, and one that stays keeps its keys', async () => {
    const [gone, kept] = [await TestIssuer.start(), await TestIssuer.start()];
    const keptSection = section('kept', kept, 'quants = "write"');
    await using server = await startFramehold({
      toml: `${auth}${section('gone', gone, 'quants = "write"')}${keptSection}`,
    });
    const [goneJwt, keptJwt] = [await gone.sign(), await kept.sign()];
    const whoami = async (jwt: string) =>
      (await ask(`${server.url}/whoami`, { headers: { authorization: `Bearer ${jwt}` } })).status;
    expect([await whoami(goneJwt), await whoami(keptJwt)]).toEqual([200, 200]);
    using flight = new FlightClient(server.grpcAddress.port);
    const stream = (jwt: string) =>
      gather(
        flight.openGet(JSON.stringify({ sql: 'select count(*) from range(100000000000)' }), {
          authorization: `Bearer ${jwt}`,
        }),
      );
    const ended = stream(goneJwt);
    const goesOn = stream(keptJwt);
    const running = async () => {
      const headers = { authorization: `Bearer ${keptJwt}` };
      return ((await ask(`${server.url}/queries`, { headers })).json().queries as unknown[]).length;
    };
    await expect.poll(running).toBe(1);
    kept.fault = 'down';
    const reloadedMs = performance.now();
    await server.reload(`${auth}${keptSection}`);
    expect([await whoami(goneJwt), await whoami(keptJwt), await whoami(await kept.sign({ jti: 'new' }))]).toEqual([
      401, 200, 200,
    ]);
    expect((await ended).status.code).toBe(status.UNAUTHENTICATED);
    expect(performance.now() - reloadedMs).toBeLessThan(5000);
    expect(await running()).toBe(1);
    await server.reload(auth);
    expect((await goesOn).status.code).toBe(status.UNAUTHENTICATED);
    gone.stop();
    kept.stop();
  });

  test('whose roles change gives its JWTs other rights at once, and GET /info tells of the first and the last', async () => {
    const issuer = await TestIssuer.start();
    await using server = await startFramehold({ toml: auth });
    const credentials = async () => (await ask(`${server.url}/info`)).json().credentials;
    expect(await credentials()).toEqual(['token']);
    await server.reload(`${auth}${section('corp', issuer, 'quants = "read"')}`);
    expect(await credentials()).toEqual(['token', 'jwt']);
    const headers = { authorization: `Bearer ${await issuer.sign()}` };
    const role = async () => (await ask(`${server.url}/whoami`, { headers })).json().role;
    expect(await role()).toBe('read');
    await server.reload(`${auth}${section('corp', issuer, 'quants = "admin"')}`);
    expect(await role()).toBe('admin');
    issuer.stop();
  });
});

function tomlOf(which: 'before' | 'after'): string {
  const sections = new Map<string, string[]>([['auth', ['enabled = true']]]);
  for (const [name, proof] of Object.entries(proofs)) {
    const [section = '', key = ''] = name.split('.');
    const value = proof[which] ?? '';
    if (value !== '') sections.set(section, [...(sections.get(section) ?? []), `${key} = ${value}`]);
  }
  return [...sections].map(([section, lines]) => `[${section}]\n${lines.join('\n')}\n`).join('');
}

async function startLab(folder: string, configFile: string, issuer: TestIssuer): Promise<Lab & AsyncDisposable> {
  const files = await makeTlsFiles(folder);
  const names = { ...serverNames, dns: ['localhost', 'frames.example.com'] };
  await writePair(files, files.authority.issue(names));
  const certificate = files.clients.issue({ cn: 'etl' });
  const dataDir = join(folder, 'data');
  const records = await AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
  const { token } = await records.createToken({
    ...{ name: 'ann', role: 'admin', tenant: defaultTenant, prefix: undefined, expiresAt: undefined },
  });
  const { certFile, keyFile, clientCaFile } = files;
  const server = await spawnFramehold({
    dataDir,
    flags: Object.entries({
      '--config': configFile,
      '--tls-cert-file': certFile,
      '--tls-key-file': keyFile,
      '--tls-client-auth': 'optional',
      '--tls-client-ca-file': clientCaFile,
    }).flat(),
  });
  const tls = { ca: files.authority.cert };
  const authorization = `Bearer ${token}`;
  return {
    server,
    issuer,
    ask: (path, { headers, ...more } = {}) =>
      ask(`${server.url}${path}`, { ...more, tls, headers: { authorization, ...headers } }),
    askWith: (shown, path) =>
      ask(`${server.url}${path}`, { tls, headers: shown === undefined ? {} : { authorization: shown } }),
    askWithCertificate: (path) => ask(`${server.url}${path}`, { tls: { ...tls, ...certificate } }),
    logs: async (wanted) => {
      // What is not to come is not waited for as long.
      const limitMs = server.stderr().includes('reloaded') ? 10_000 : 200;
      const deadline = performance.now() + limitMs;
      while (!server.stderr().includes(wanted) && performance.now() < deadline) await delay(5);
      return server.stderr().includes(wanted);
    },
    hold: async () => {
      const headers = { authorization, 'content-length': 10, expect: '100-continue' };
      const outgoing = request(`${server.url}/imp?name=held&overwrite=true`, {
        ...tls,
        method: 'POST',
        headers,
        agent: false,
      });
      outgoing.on('error', () => {}).flushHeaders();
      // Its route reads the body.
      await once(outgoing, 'continue');
      return () => new Promise<void>((resolve) => void outgoing.once('close', resolve).destroy());
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function linesOf(server: Framehold, message: string): Record<string, unknown>[] {
  return server
    .log()
    .split('\n')
    .filter((line) => line.includes(message))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function statusAs({ url }: Framehold, host: string): Promise<number> {
  return (await ask(`${url}/ping`, { headers: { host } })).status;
}
