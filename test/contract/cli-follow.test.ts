import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { soon } from '../support/soon.ts';
import { runCommand, spawnCommand } from '../support/spawned-command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let server: Framehold;

beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'ticks', "SELECT range::INT AS n, 'row ' || range AS text FROM range(2)");
});
afterAll(() => server[Symbol.asyncDispose]());

const append = (from: Framehold, n: number) =>
  putSql(from.frames, 'ticks', `SELECT ${n}::INT AS n, 'row ' || ${n} AS text`, { mode: 'append' });

/** The command, and what it has printed so far. */
function start(argv: readonly string[], url = server.url) {
  const { child, result } = spawnCommand(['follow', ...argv], { cwd: server.dataDir, env: { FRAMEHOLD_SERVER: url } });
  const printed = { stdout: '', stderr: '' };
  child.stdout?.on('data', (text) => {
    printed.stdout += text;
  });
  child.stderr?.on('data', (text) => {
    printed.stderr += text;
  });
  return { child, result, printed };
}

test('rows that are there and those that come are printed until Ctrl-C, the names once', async () => {
  const csv = start(['ticks', '--from', '1', '--columns', 'text,n']);
  const table = start(['ticks', '--from', '0', '--format', 'table', '--where', 'n >= 0']);
  await soon(() => expect(csv.printed.stdout).toContain('row 1'));
  await soon(() => expect(table.printed.stdout).toContain('row 1'));
  await append(server, 2);
  await soon(() => expect(csv.printed.stdout).toBe('text,n\r\nrow 1,1\r\nrow 2,2\r\n'));
  await soon(() => expect(table.printed.stdout).toMatch(/^n {2}text\n-+ {2}-+\n0 {2}row 0\n1 {2}row 1\n2 {2}row 2\n$/));
  for (const { child, result } of [csv, table]) {
    child.kill('SIGINT');
    expect((await result).status).toBe(130);
  }
});

test('it goes on with the next row after the server was away, and ends with the frame', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = directory.path;
  let other = await startFramehold({ dataDir });
  const { port } = new URL(other.url);
  await putSql(other.frames, 'ticks', "SELECT 0::INT AS n, 'row 0' AS text");
  const { result, printed } = start(['ticks', '--from', '0', '--format', 'ndjson', '--columns', 'n'], other.url);
  await soon(() => expect(printed.stdout).toBe('{"n":0}\n'));
  await other[Symbol.asyncDispose]();
  await soon(() => expect(printed.stderr).toContain('goes on at row 1 when it can'));
  other = await startFramehold({ dataDir, settings: { 'http.bind_address': `127.0.0.1:${port}` } });
  await append(other, 1);
  await soon(() => expect(printed.stdout).toBe('{"n":0}\n{"n":1}\n'));
  await putSql(other.frames, 'ticks', 'SELECT 5::INT AS n', { mode: 'overwrite' });
  expect(await result).toMatchObject({ status: 1, stderr: expect.stringContaining('the rows of ticks were replaced') });
  await other[Symbol.asyncDispose]();
});

test('a frame that is not there is told at once', async () => {
  const env = { FRAMEHOLD_SERVER: server.url };
  const { status, stderr } = await runCommand(['follow', 'nothing'], { cwd: server.dataDir, env });
  expect([status, stderr]).toEqual([1, 'framehold: no frame is held as nothing\n']);
});
