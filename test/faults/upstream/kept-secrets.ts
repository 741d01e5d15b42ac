import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FlightSqlClient } from '../../support/flight-sql-client.ts';
import { ask } from '../../support/http-client.ts';
import { familyOf } from '../../support/process-facts.ts';
import { runCommand } from '../../support/spawned-command.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { type MarkedRequest, startMarkedUpstream } from './marked-upstream.ts';
import { askMarked } from './told-answer.ts';

const user = 'admin';
const password = 'canary-p@ss/w:rd %25é';
const clientSecret = 'client-canary-token';
const sqlSecret = 'sql_canary_text';

/** Every way to write the password that a program could come upon. */
const spellings: readonly string[] = [
  password,
  'canary-p',
  encodeURIComponent(password),
  new URL(`http://${user}:${encodeURIComponent(password)}@x`).password,
  Buffer.from(`${user}:${password}`).toString('base64'),
  Buffer.from(`${user}:${password}`).toString('base64url'),
  Buffer.from(password).toString('base64').slice(0, -4),
  Buffer.from(password).toString('hex'),
];

/** What the upstream does to make the server talk; all of it repeats our own credentials. */
const provocations: readonly ((request: MarkedRequest, echo: string) => unknown)[] = [
  ({ send }, echo) => send(`HTTP/1.1 401 ${echo}\r\nWWW-Authenticate: ${echo}\r\nContent-Length: 0\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 302 ${echo}\r\nLocation: http://${echo}/\r\nContent-Length: 0\r\n\r\n`),
  ({ send }, echo) => send(`garbage ${echo}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 200 ${echo}\r\n${echo}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 099 ${echo}\r\nX: ${echo}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${echo}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 200 OK\r\nContent-Length: ${echo}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 200 OK\r\nX: ${echo.repeat(2000)}\r\n\r\n`),
  ({ send }, echo) => send(`HTTP/1.1 200 OK\r\nSet-Cookie: ${echo}\r\nServer: ${echo}\r\nContent-Length: 2\r\n\r\n{}`),
  ({ send }, echo) => send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n${echo}\r\n\r\n`),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
  () => {},
];

type Way = 'flag' | 'FRAMEHOLD_TSDB_HTTP_URL' | 'SERVICE_TSDB_HTTP_URL' | 'TSDB_HTTP_URL' | 'file';
const ways: readonly Way[] = ['flag', 'FRAMEHOLD_TSDB_HTTP_URL', 'SERVICE_TSDB_HTTP_URL', 'TSDB_HTTP_URL', 'file'];

/** U3: credentials of the upstream and of clients, and everything that is said anywhere while things go wrong. */
export const keptSecrets: Scenario = {
  id: 'U3',
  promise: 'the password of the external database, and what clients send in confidence, is shown nowhere',
  rounds: { ci: 2, release: 10 },
  secondsPerRound: 20,
  async run({ rounds, random }: Trial) {
    const said: Said[] = [];
    let requests = 0;
    for (let round = 0; round < rounds; round++) {
      const way = round === 0 ? random.pick(ways) : (ways[round % ways.length] ?? 'flag');
      requests += await listenToAll(way, round % 2 === 0 ? 'json' : 'pretty', said);
    }
    await startWrongly(said);
    for (const { where, text } of said) {
      const shown = spellings.find((spelling) => text.includes(spelling));
      promised(shown === undefined, `${where} does not show the password`, around(text, shown));
      if (!where.startsWith('log')) continue;
      for (const secret of [clientSecret, sqlSecret, 'select ']) {
        promised(!text.toLowerCase().includes(secret), `${where} does not show "${secret}"`, around(text, secret));
      }
    }
    const characters = said.reduce((sum, { text }) => sum + text.length, 0);
    return { starts: rounds, requests, 'texts read': said.length, 'characters read': characters, hits: 0 };
  },
};

interface Said {
  readonly where: string;
  readonly text: string;
}

async function listenToAll(way: Way, format: string, said: Said[]): Promise<number> {
  await using directory = await temporaryDirectory();
  const credentials = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  let authorized = 0;
  const heads: string[] = [];
  const upstream = await startMarkedUpstream((request) => {
    heads.push(request.head.text);
    if (request.head.headers.get('authorization') === credentials) authorized++;
    const echo = [password, ...spellings].join(' ').replaceAll('é', '\xe9');
    return provocations[request.marker % provocations.length]?.(request, echo);
  });
  const url = `http://${user}:${encodeURIComponent(password)}@127.0.0.1:${upstream.port}`;
  const { flags, env } = await given(way, url, directory.path);
  const common = [...flags, '--tsdb-timeout', '300ms', '--log-level', 'trace', '--log-format', format];
  await using server = await spawnFramehold({ dataDir: directory.path, flags: common, env });
  said.push({ where: `the banner (${way})`, text: server.banner });
  const headers = {
    authorization: `Bearer ${clientSecret}`,
    cookie: `session=${clientSecret}`,
    'proxy-authorization': clientSecret,
  };
  const hear = async (path: string, method = 'GET', body?: string): Promise<void> => {
    const answer = await ask(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
    said.push({ where: `${method} ${path} (${way})`, text: `${JSON.stringify(answer.headers)}${answer.text}` });
  };
  for (let marker = 0; marker < 2 * provocations.length; marker++) {
    const door = marker % 2 === 0 ? 'exec' : 'exp';
    const told = await askMarked(server.url, marker, { headers, door });
    const text = told.kind === 'whole' ? JSON.stringify(told.headers) + String(told.body) : '';
    said.push({ where: `an answer (${way}, provocation ${marker % provocations.length})`, text });
  }
  promised(authorized === 2 * provocations.length, 'the upstream gets our credentials', authorized);
  promised(
    heads.every((head) => !head.includes(clientSecret)),
    'the upstream gets no credentials of clients',
    heads[0],
  );
  await upstream[Symbol.asyncDispose]();
  await until('the upstream is known to be down', 5000, async () => {
    const told = await askMarked(server.url, 1, { headers });
    return told.kind === 'whole' && told.headers['retry-after'] === '1';
  });
  await sayWrongThings(hear);
  using flight = new FlightSqlClient(server.grpcPort);
  await flight.update('CommandStatementUpdate', [[1, `create table t as select ${sqlSecret}`]]).catch(() => {});
  said.push(...sayingsOfChildren(server));
  const printed = await runCommand(['config', ...flags], { cwd: directory.path, env });
  promised(printed.status === 0 && printed.stdout.includes('127.0.0.1'), 'config shows the address', printed.stderr);
  said.push({ where: `framehold config (${way})`, text: printed.stdout + printed.stderr });
  for (const command of ['server', 'config']) {
    const help = await runCommand([command, '--help', ...flags], { cwd: directory.path, env });
    said.push({ where: `framehold ${command} --help (${way})`, text: help.stdout + help.stderr });
  }
  server.kill('SIGTERM');
  await server.exited;
  const log = server.stderr();
  promised(log.includes('the external database is down'), 'the log tells of the upstream', log.slice(-500));
  said.push({ where: `log (${way}, ${format})`, text: log });
  return 2 * provocations.length;
}

/** Statements and requests that fail in every other way, so that the log tells of them. */
async function sayWrongThings(hear: (path: string, method?: string, body?: string) => Promise<void>): Promise<void> {
  const local = (sql: string): string => `/exec?${new URLSearchParams({ query: sql, fmt: 'json', engine: 'local' })}`;
  await hear(local(`select ${sqlSecret}`));
  await hear(local(`select '${sqlSecret}'::integer`));
  await hear(local(`selec ${sqlSecret}`));
  await hear(local(`select * from read_csv('/${sqlSecret}')`));
  await hear(local(`select error('${sqlSecret}')`));
  await hear('/sql', 'POST', JSON.stringify({ sql: `select ${sqlSecret} from nowhere` }));
  await hear('/sql', 'POST', `{"sql":"select '${sqlSecret}'`);
  await hear(`/exec?${new URLSearchParams({ query: `select '${sqlSecret}'`, fmt: 'xml' })}`);
  await hear(`/exec?${new URLSearchParams({ query: `select '${sqlSecret}'` })}`, 'HEAD');
  for (const path of ['/info', '/ping', '/handles', '/openapi.json', '/metrics', '/nowhere', '/exec']) await hear(path);
}

function sayingsOfChildren({ pid }: SpawnedFramehold): Said[] {
  const children = familyOf(pid).filter((each) => each !== pid);
  promised(children.length > 0, 'there are children to look at');
  return children.flatMap((child) =>
    ['cmdline', 'environ'].map((file) => ({
      where: `/proc/…/${file} of a child`,
      text: readFileSync(`/proc/${child}/${file}`, 'utf8'),
    })),
  );
}

/** Mistakes in the setting itself, which are told on standard error. */
async function startWrongly(said: Said[]): Promise<void> {
  await using directory = await temporaryDirectory();
  const secret = encodeURIComponent(password);
  const urls = [
    `ftp://${user}:${secret}@127.0.0.1:9000`,
    `http://${user}:${secret}@127.0.0.1:99999`,
    `http://${user}:${secret}@`,
    `http://${user}:${secret}@host/?query=1`,
    `http://${user}:${secret}@ho st`,
    `${user}:${secret}@127.0.0.1:9000`,
    `http://${user}:${password}@127.0.0.1:x`,
    `http:/${user}:${secret}@127.0.0.1`,
    `//${user}:${secret}@127.0.0.1`,
  ];
  for (const way of ['flag', 'TSDB_HTTP_URL', 'file'] as const) {
    await Promise.all(
      urls.map(async (url, index) => {
        const { flags, env } = await given(way, url, directory.path, `wrong${index}.toml`);
        const wrong = await runCommand(['config', ...flags], { cwd: directory.path, env });
        said.push({ where: `a wrong URL (${way}, ${index})`, text: wrong.stdout + wrong.stderr });
      }),
    );
  }
  const torn = join(directory.path, 'torn.toml');
  await writeFile(torn, `[tsdb]\nhttp_url = "http://${user}:${secret}@127.0.0.1\n`);
  const wrong = await runCommand(['config', '--config', torn], { cwd: directory.path });
  said.push({ where: 'a config file that is no TOML', text: wrong.stdout + wrong.stderr });
}

async function given(
  way: Way,
  url: string,
  directory: string,
  name = 'framehold.toml',
): Promise<{ flags: string[]; env: Record<string, string> }> {
  switch (way) {
    case 'flag':
      return { flags: ['--tsdb-http-url', url], env: {} };
    case 'file': {
      const file = join(directory, name);
      await writeFile(file, `[tsdb]\nhttp_url = ${JSON.stringify(url)}\n`);
      return { flags: ['--config', file], env: {} };
    }
    default:
      return { flags: [], env: { [way]: url } };
  }
}

function around(text: string, found: string | undefined): string | undefined {
  const at = found === undefined ? -1 : text.toLowerCase().indexOf(found.toLowerCase());
  return at < 0 ? undefined : text.slice(Math.max(0, at - 200), at + 200);
}
