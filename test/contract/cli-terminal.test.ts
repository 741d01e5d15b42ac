import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { onTerminal, type Terminal } from '../support/terminal.ts';

let server: Framehold;
let home: TemporaryDirectory;

beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'letters', "select * from (values (1, 'a'), (2, null)) as t(n, letter)");
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  home = await temporaryDirectory();
  return () => home[Symbol.asyncDispose]();
});

const open = (argv: readonly string[], options: { width?: number; env?: Record<string, string> } = {}): Terminal =>
  onTerminal([...argv, '--server', server.url], { homeDir: home.path, ...options });

const prompts = (terminal: Terminal): number => terminal.screen().split('framehold> ').length - 1;

/** Types a line when the prompt is there, and gives what stands behind it when the next one is. */
async function answer(terminal: Terminal, line: string): Promise<string> {
  await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toMatch(/(framehold> |\.\.\. )$/);
  const before = terminal.screen().length;
  terminal.type(`${line}\n`);
  await expect.poll(() => terminal.screen().slice(before), { timeout: 10_000 }).toMatch(/\n.*(framehold> |\.\.\. )$/);
  return terminal.screen().slice(before);
}

async function leave(terminal: Terminal): Promise<number> {
  terminal.type('\x04');
  return terminal.exitCode;
}

const plain = { env: { NO_COLOR: '1' } };

describe('framehold sql without SQL', () => {
  it('is a prompt that runs statements of several lines', async () => {
    const terminal = open(['sql'], plain);
    expect(await answer(terminal, 'select n, letter')).toContain('... ');
    expect(await answer(terminal, 'from letters;')).toContain('n  letter\n-  ------\n1  a\n2  NULL\n(2 rows)\n');
    expect(await leave(terminal)).toBe(0);
  });

  it('lists and describes frames, times statements, helps, and tells what it does not know', async () => {
    const terminal = open(['sql'], plain);
    expect(await answer(terminal, '\\d')).toMatch(/handle +rows +size +created +expires\n.*\nletters +2 /);
    expect(await answer(terminal, '\\d letters')).toMatch(/column +type\n.*\nn +INT\nletter +VARCHAR\n/);
    expect(await answer(terminal, '\\d nobody')).toContain('no frame is held as nobody\n');
    expect(await answer(terminal, '\\timing')).toContain('Timing is on.');
    expect(await answer(terminal, 'select 1;')).toMatch(/\(1 row\)\n[\d.]+ m?s\n/);
    expect(await answer(terminal, '\\?')).toContain('\\timing');
    expect(await answer(terminal, '\\x')).toContain('There is no \\x');
    terminal.type('\\q\n');
    expect(await terminal.exitCode).toBe(0);
  });

  it('goes on after an error', async () => {
    const terminal = open(['sql'], plain);
    expect(await answer(terminal, 'selec 1;')).toContain('syntax error at or near "selec"');
    expect(await answer(terminal, 'select 2 as two;')).toContain('two\n');
    await leave(terminal);
  });

  it('drops with Ctrl-C what is typed', async () => {
    const terminal = open(['sql'], plain);
    await answer(terminal, 'select 1');
    const before = prompts(terminal);
    terminal.type('as nonsense\x03');
    await expect.poll(() => prompts(terminal)).toBe(before + 1);
    expect(await answer(terminal, 'select 7 as seven;')).toContain('seven\n');
    expect(terminal.screen()).not.toContain('nonsense\n-');
    await leave(terminal);
  });

  it('cancels with Ctrl-C the statement that runs', async () => {
    const terminal = open(['sql'], plain);
    await expect.poll(() => prompts(terminal)).toBe(1);
    terminal.type('select count(*) from range(100000000) a, range(1000000) b;\n');
    await expect.poll(() => terminal.stderr(), { timeout: 10_000 }).toContain('sql  1 s');
    terminal.type('\x03');
    await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toMatch(/cancelled\nframehold> $/);
    await leave(terminal);
  });

  it('keeps its history', async () => {
    const first = open(['sql'], plain);
    await answer(first, 'select 42 as answer;');
    await leave(first);
    expect(readFileSync(join(home.path, '.framehold/history'), 'utf8')).toBe('select 42 as answer;\n');
    const second = open(['sql'], plain);
    expect(await answer(second, '\x1b[A')).toContain('answer\n------\n    42\n');
    await leave(second);
  });
});

describe('on a terminal', () => {
  it('a result is a table as wide as it, and tells how many rows are not shown', async () => {
    const terminal = open(['sql', "select range as n, repeat('x', 100) as x from range(1000)"], {
      ...plain,
      width: 40,
    });
    expect(await terminal.exitCode).toBe(0);
    const lines = terminal.screen().trimEnd().split('\n');
    expect(lines).toHaveLength(2 + 100 + 1);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect(lines[3]).toBe(` 1  ${'x'.repeat(35)}…`);
    expect(lines.at(-1)).toBe('(100 rows; 900 more not shown)');
  });

  it('NULL is dim, unless NO_COLOR is set', async () => {
    const coloured = open(['sql', 'select null as n']);
    await coloured.exitCode;
    expect(coloured.screen()).toContain('\x1b[2mNULL\x1b[22m');
    const uncoloured = open(['sql', 'select null as n'], plain);
    await uncoloured.exitCode;
    expect(uncoloured.screen()).not.toContain('\x1b');
  });

  it.each([
    [['get', 'letters', '--format', 'parquet']],
    [['get', 'letters', '--format', 'arrow']],
    [['sql', 'select 1', '--format', 'arrow']],
  ])('binary is refused: %j', async (argv) => {
    const terminal = open(argv);
    expect(await terminal.exitCode).toBe(1);
    expect(terminal.screen()).toBe(
      `framehold: ${argv.at(-1)} is binary and would garble the terminal (write it to a file with -o, or pipe it on)\n`,
    );
  });

  it('frames are listed as a table', async () => {
    const terminal = open(['ls'], plain);
    await terminal.exitCode;
    expect(terminal.screen()).toMatch(
      /^handle +rows +size +created +expires\n-+.*\nletters +2 +\d+ B +[\d: -]+\n\(1 frame\)\n$/,
    );
  });

  it('what takes more than a second shows how far it is, and takes the line away', async () => {
    let finish = (): void => {};
    const slow = createServer((_, response) => {
      response.writeHead(200, { 'content-length': '8' });
      response.write('n\n1\n');
      finish = () => response.end('2\n3\n');
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const file = join(home.path, 'x.csv');
    const terminal = onTerminal(['get', 'x', '-o', file, '--server', url], { homeDir: home.path });
    await expect.poll(() => terminal.stderr(), { timeout: 5000 }).toMatch(/get x {2}\[#+\.+\] 50%/);
    finish();
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.stderr().endsWith('\r\x1b[K')).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('n\n1\n2\n3\n');
    slow.close();
  });
});
