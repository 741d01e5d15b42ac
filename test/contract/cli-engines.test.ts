import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClusterEngine } from '../../src/core/sql/engine.ts';
import type { ClusterEngineOptions } from '../../src/server/engines.ts';
import { commandsOf } from '../support/command-here.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type AskedOf, secondEngine } from '../support/second-engine.ts';
import { onTerminal } from '../support/terminal.ts';

const toml = `
[sql]
auto_engine = "second"
auto_threshold = "1B"
[engines.second]
kind = "spark-connect"
url = "sc://second.example.com/;token=hidden"
[engines.third]
kind = "spark-connect"
url = "sc://third.example.com"
`;
const problem = 'engine third cannot be reached: nothing listens there';

let server: Framehold;
const asked: AskedOf = [];

beforeAll(async () => {
  server = await startFramehold({ toml, createClusterEngine });
  await putSql(server.frames, 'small', 'SELECT range::INT AS n FROM range(3)');
  // Its process is there from now on, and tells its version at once.
  await framehold(['sql', 'select 1']);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  asked.length = 0;
});

function createClusterEngine(options: ClusterEngineOptions): ClusterEngine {
  if (options.name === 'second') return secondEngine(options, { asked });
  return secondEngine(options, { health: async () => ({ state: 'down', problem }) });
}

const framehold = commandsOf(() => ({ cwd: server.dataDir, env: { FRAMEHOLD_SERVER: server.url } }));
const ran = (): string[] => asked.filter(([method]) => method === 'run').map(([, sql]) => sql);

describe('framehold engines', () => {
  it('lists them, a line each with tabs in a pipe', async () => {
    const { status, stdout } = await framehold(['engines']);
    expect(status).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(lines).toEqual([
      ['local', 'duckdb', 'up', expect.stringMatching(/^\d/), '', ''],
      ['second', 'spark-connect', 'up', '1.2.3', 'auto', ''],
      ['third', 'spark-connect', 'down', '', '', problem],
    ]);
  });

  it('tells the same as JSON', async () => {
    const { stdout } = await framehold(['engines', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'local' },
      { name: 'second', kind: 'spark-connect', auto: true },
      { name: 'third', state: 'down', problem },
    ]);
  });
});

describe('framehold sql --engine', () => {
  it('runs the statement there, in every format and with parameters', async () => {
    const sql = 'select max(n) as m from small where n < ?';
    const csv = await framehold(['sql', sql, '--engine', 'second', '--param', '2']);
    expect(csv).toMatchObject({ status: 0, stdout: 'm\r\n1\r\n' });
    const json = await framehold(['sql', sql, '--engine', 'second', '--param', '2', '--format', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ dataset: [[1]], engine: 'second' });
    expect(ran()).toEqual([sql, sql]);
  });

  it('auto tells below a table which it was', async () => {
    const { stdout } = await framehold([
      'sql',
      'select max(n) as m from small',
      '--engine',
      'auto',
      '--format',
      'table',
    ]);
    expect(stdout).toMatch(/\(1 row; on second, auto: it reads frames of /);
  });

  it('left out, the statement is local and JSON as it was', async () => {
    const { stdout } = await framehold(['sql', 'select 1 as a', '--format', 'json']);
    expect(JSON.parse(stdout)).not.toHaveProperty('engine');
    expect(asked).toEqual([]);
  });

  it('of one that is not known is a line with those that are', async () => {
    const { status, stderr } = await framehold(['sql', 'select 1', '--engine', 'secnod']);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^framehold: engine "secnod" is not known; did you mean second\? \(the engines are local, second, third, auto/,
    );
  });
});

it('framehold sql --engine cuts statements by the quotes that the engine has', async () => {
  await framehold(['sql', 'select 5 as `x;y`; select n as `;` from small', '--engine', 'second']);
  await framehold(['sql', String.raw`select 'a\';b' as c`, '--engine', 'second']);
  const analyzed = asked.filter(([method]) => method === 'analyze').map(([, sql]) => sql);
  expect(new Set(analyzed)).toEqual(new Set(['select 5 as `x;y`', String.raw`select 'a\';b' as c`]));
});

describe('on a terminal', () => {
  const open = (argv: readonly string[]) =>
    onTerminal([...argv, '--server', server.url], { homeDir: server.dataDir, width: 120, env: { NO_COLOR: '1' } });

  it('framehold engines is a table', async () => {
    const terminal = open(['engines']);
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toMatch(/^engine +kind +state +version +used for/);
    expect(terminal.screen()).toMatch(/second +spark-connect +up +1\.2\.3 +large ones of auto/);
  });

  it('\\engine chooses for the statements that follow', async () => {
    const terminal = open(['sql']);
    const say = async (line: string, shown: string): Promise<void> => {
      terminal.type(`${line}\n`);
      await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toContain(shown);
    };
    await say('\\engine', 'Statements run on local.');
    await say('\\engine secnod', 'There is no engine secnod; did you mean second?');
    await say('\\engine second', 'Statements run on second.');
    await say('select max(n) as most from small;', '(1 row)');
    await say('\\engines', 'spark-connect');
    expect(ran()).toEqual(['select max(n) as most from small']);
    terminal.type('\x04');
    expect(await terminal.exitCode).toBe(0);
  });
});
