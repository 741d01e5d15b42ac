import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Int32, RecordBatchReader, Table, tableFromIPC, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readArrow } from '#client/node/arrow-reader.ts';
import { arrowFile } from '#client/node/arrow-writer.ts';
import { ByteReader } from '#client/node/byte-reader.ts';
import { commandsOf } from '../support/command-here.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let server: Framehold;
let folder: TemporaryDirectory;

beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'letters', "select * from (values (1, 'a'), (2, null), (3, 'c')) as t(n, letter)");
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = await temporaryDirectory();
  return () => folder[Symbol.asyncDispose]();
});

const at = (name: string): string => join(folder.path, name);
const write = (name: string, content: string | Uint8Array): void => writeFileSync(at(name), content);

const framehold = commandsOf(() => ({ cwd: folder.path, env: { FRAMEHOLD_SERVER: server.url } }));

const stream = (...values: number[]): Uint8Array =>
  tableToIPC(new Table({ n: vectorFromArray(values, new Int32()) }), 'stream');

async function file(...values: number[]): Promise<Buffer> {
  const source = (async function* () {
    yield stream(...values);
  })();
  const pieces: Uint8Array[] = [];
  for await (const piece of arrowFile(readArrow(new ByteReader(source)))) pieces.push(piece);
  return Buffer.concat(pieces);
}

let handles = 0;
const newHandle = (): string => `cli_${++handles}`;

describe('framehold put', () => {
  it('holds each file under its name without the ending, and prints a line for each', async () => {
    write('first.csv', 'a,b\n1,x\n2,y\n');
    write('second.ndjson', '{"a":1}\n');
    const { status, stdout, stderr } = await framehold(['put', 'first.csv', 'second.ndjson']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^first {2}2 rows {2}\d+ B {2}[\d.]+ m?s\nsecond {2}1 row {2}\d+ B {2}[\d.]+ m?s\n$/);
    expect((await framehold(['get', 'first'])).stdout).toMatch(/^a,b\r?\n1,x\r?\n2,y\r?\n$/);
  });

  it.each([
    ['file', file],
    ['stream', stream],
  ] as const)('takes an Arrow %s', async (_, made) => {
    const handle = newHandle();
    write(`${handle}.arrow`, await made(1, 2, 3));
    expect(await framehold(['put', `${handle}.arrow`])).toMatchObject({ status: 0, stderr: '' });
    expect((await framehold(['get', handle, '--format', 'ndjson'])).stdout).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  });

  it('takes what is compressed', async () => {
    const handle = newHandle();
    write(`${handle}.csv.gz`, gzipSync('a\n1\n'));
    expect(await framehold(['put', `${handle}.csv.gz`])).toMatchObject({ status: 0, stderr: '' });
    expect((await framehold(['get', handle, '--format', 'ndjson'])).stdout).toBe('{"a":1}\n');
  });

  it('reads - from standard input, and makes a handle where none is given', async () => {
    const csv = await framehold(['put', '-', '--format', 'csv'], { stdin: 'a\n1\n' });
    expect(csv).toMatchObject({ status: 0, stdout: expect.stringMatching(/^f_\w{26} {2}1 row /) });
    const arrow = await framehold(['put', '-'], { stdin: stream(1) });
    expect(arrow).toMatchObject({ status: 0, stdout: expect.stringMatching(/^f_\w{26} {2}1 row /) });
  });

  it.each(['csv', 'arrow'] as const)('refuses a handle that is taken, and says what helps (%s)', async (format) => {
    const handle = newHandle();
    const content = { csv: 'n\n1\n', arrow: await file(1) }[format];
    write(`${handle}.${format}`, content);
    const put = (...flags: string[]) => framehold(['put', `${handle}.${format}`, ...flags]);
    await put();
    expect(await put()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `framehold: ${handle}.${format}: ${handle} is taken (use --overwrite to replace it, or --append to add to it)\n`,
    });
    expect(await put('--append')).toMatchObject({ status: 0, stdout: expect.stringContaining(`${handle}  1 row `) });
    expect((await framehold(['get', handle, '--format', 'ndjson'])).stdout).toBe('{"n":1}\n{"n":1}\n');
    expect(await put('--overwrite')).toMatchObject({ status: 0 });
    expect((await framehold(['get', handle, '--format', 'ndjson'])).stdout).toBe('{"n":1}\n');
  });

  it('makes one frame of several files with --append and --handle', async () => {
    const handle = newHandle();
    write('monday.csv', 'n\n1\n');
    write('tuesday.csv', 'n\n2\n');
    await framehold(['put', '--append', '--handle', handle, 'monday.csv', 'tuesday.csv']);
    expect((await framehold(['get', handle, '--format', 'ndjson'])).stdout).toBe('{"n":1}\n{"n":2}\n');
  });

  it('goes on with the other files when one is refused', async () => {
    const handle = newHandle();
    write(`${handle}.csv`, 'n\n1\n');
    const { status, stdout, stderr } = await framehold(['put', 'none.csv', `${handle}.csv`]);
    expect(status).toBe(1);
    expect(stderr).toBe('framehold: none.csv: cannot be read: no such file or directory\n');
    expect(stdout).toContain(`${handle}  1 row`);
  });

  it('tells with --verbose how the columns were typed and which rows were left out', async () => {
    const handle = newHandle();
    write(`${handle}.csv`, `id,zip\n${'1,00123\n'.repeat(50)}7,00124,one,more\n`);
    expect((await framehold(['put', `${handle}.csv`])).stderr).toContain(
      'or leave such rows out with --skip-bad-rows)',
    );
    const { stdout } = await framehold(['put', `${handle}.csv`, '--skip-bad-rows', '--verbose']);
    expect(stdout).toContain(`${handle}  50 rows, 1 rejected`);
    expect(stdout).toContain('  id  LONG\n  zip  VARCHAR\n');
    expect(stdout).toMatch(/rejected: line 52.*: /);
  });

  it('gives a time to live', async () => {
    const [one, two] = [newHandle(), newHandle()];
    write(`${one}.csv`, 'n\n1\n');
    write(`${two}.arrow`, await file(1));
    await framehold(['put', `${one}.csv`, `${two}.arrow`, '--ttl', '1h']);
    for (const handle of [one, two]) {
      const { expires } = JSON.parse((await framehold(['info', handle, '--json'])).stdout);
      expect(Date.parse(expires) - Date.now()).toBeGreaterThan(3_500_000);
    }
  });

  it('says what is wrong with a file that is cut off, and keeps nothing of it', async () => {
    const handle = newHandle();
    write(`${handle}.arrow`, (await file(...Array.from({ length: 1000 }, (_, n) => n))).subarray(0, 2000));
    const { status, stderr } = await framehold(['put', `${handle}.arrow`]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: `framehold: ${handle}.arrow: it is cut off\n` });
    expect((await framehold(['info', handle])).stderr).toBe(`framehold: no frame is held as ${handle}\n`);
  });
});

describe('framehold get', () => {
  it('prints CSV', async () => {
    const { stdout } = await framehold(['get', 'letters', '--limit', '2', '--columns', 'letter,n']);
    expect(stdout.replaceAll('\r', '')).toBe('letter,n\na,1\n,2\n');
  });

  it.each(['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'arrows', 'feather'])(
    'writes letters.%s in the format of its ending, and nothing else',
    async (ending) => {
      const name = `letters.${ending}`;
      const { status, stdout, stderr } = await framehold(['get', 'letters', '-o', name]);
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
      expect(readdirSync(folder.path)).toEqual([name]);
      const bytes = readFileSync(at(name));
      const starts: Record<string, string> = {
        csv: 'n,letter',
        tsv: 'n\tletter',
        json: '{"query":"handle:letters"',
        ndjson: '{"n":1,"letter":"a"}',
        parquet: 'PAR1',
        arrow: 'ARROW1',
        arrows: '\xff\xff\xff\xff',
        feather: 'ARROW1',
      };
      expect(bytes.toString('latin1').startsWith(starts[ending] ?? '?')).toBe(true);
    },
  );

  it.each(['letters.arrow', 'letters.arrows'])('writes %s so that others read it', async (name) => {
    await framehold(['get', 'letters', '-o', name]);
    const rows = tableFromIPC(readFileSync(at(name))).toArray();
    expect(rows.map((row) => row.toJSON())).toEqual([
      { n: 1, letter: 'a' },
      { n: 2, letter: null },
      { n: 3, letter: 'c' },
    ]);
  });

  it('writes the footer of an Arrow file: readers that jump find every batch', async () => {
    await putSql(server.frames, 'many', 'select range as n from range(300000)');
    await framehold(['get', 'many', '-o', 'many.arrow']);
    const reader = RecordBatchReader.from(readFileSync(at('many.arrow')));
    expect(reader.open().isFile()).toBe(true);
    const rows = [...(reader as Iterable<{ numRows: number }>)].map(({ numRows }) => numRows);
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.reduce((sum, each) => sum + each, 0)).toBe(300_000);
  });

  it('streams Arrow into a pipe, with the columns and rows asked for', async () => {
    const argv = ['get', 'letters', '--format', 'arrow', '--columns', 'letter', '--limit', '1'];
    const { stdoutBytes } = await framehold(argv);
    expect(
      tableFromIPC(stdoutBytes)
        .toArray()
        .map((row) => row.toJSON()),
    ).toEqual([{ letter: 'a' }]);
  });

  it('writes nothing when there is no such frame', async () => {
    for (const name of ['x.csv', 'x.arrow']) {
      const { status, stderr } = await framehold(['get', 'nobody', '-o', name]);
      expect({ status, stderr }).toEqual({ status: 1, stderr: 'framehold: no frame is held as nobody\n' });
    }
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('says when the file cannot be written', async () => {
    const { status, stderr } = await framehold(['get', 'letters', '-o', 'none/x.csv']);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'framehold: cannot write "none/x.csv": no such file or directory\n',
    });
  });

  it('writes to what is no file in place', async () => {
    expect(await framehold(['get', 'letters', '-o', '/dev/null', '--format', 'csv'])).toMatchObject({ status: 0 });
    expect(existsSync('/dev/null')).toBe(true);
  });
});

describe('framehold ls, info and rm', () => {
  it('lists with tabs in a pipe, and as JSON', async () => {
    const { stdout } = await framehold(['ls', 'lett']);
    expect(stdout).toMatch(/^letters\t3\t\d+\t2\d{3}-[\dT:.-]+Z\t\theld\n$/);
    const listed = JSON.parse((await framehold(['ls', 'lett', '--json'])).stdout);
    expect(listed).toMatchObject([{ handle: 'letters', rows: 3 }]);
    expect(JSON.parse((await framehold(['ls', 'nothing', '--json'])).stdout)).toEqual([]);
  });

  it('describes a frame', async () => {
    const { stdout } = await framehold(['info', 'letters']);
    expect(stdout).toMatch(/^handle +letters\nrows +3\nversion +1\n/);
    expect(stdout).toMatch(/^column +type\n-+ +-+\nn +INT\nletter +VARCHAR\n$/m);
    expect(JSON.parse((await framehold(['info', 'letters', '--json'])).stdout)).toMatchObject({ rows: 3 });
  });

  it('drops frames, and says which were not there', async () => {
    const handle = newHandle();
    await putSql(server.frames, handle, 'select 1 as n');
    const { status, stdout, stderr } = await framehold(['rm', 'nobody', handle]);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: `dropped ${handle}\n`,
      stderr: 'framehold: no frame is held as nobody\n',
    });
  });

  it('drops only the version that is named', async () => {
    const handle = newHandle();
    await putSql(server.frames, handle, 'select 1 as n');
    expect(await framehold(['rm', handle, '--if-version', '7'])).toMatchObject({ status: 1, stdout: '' });
    expect(await framehold(['rm', handle, '--if-version', '1'])).toMatchObject({ status: 0 });
  });
});

describe('framehold sql', () => {
  it('prints CSV in a pipe, and other forms when asked', async () => {
    const statement = 'select n, letter from letters order by n limit 2';
    expect((await framehold(['sql', statement])).stdout.replaceAll('\r', '')).toBe('n,letter\n1,a\n2,\n');
    expect((await framehold(['sql', statement, '--format', 'ndjson'])).stdout).toBe(
      '{"n":1,"letter":"a"}\n{"n":2,"letter":null}\n',
    );
    expect((await framehold(['sql', statement, '--format', 'table'])).stdout).toBe(
      'n  letter\n-  ------\n1  a\n2  NULL\n(2 rows)\n',
    );
    await framehold(['sql', statement, '-o', 'x.arrow']);
    expect(tableFromIPC(readFileSync(at('x.arrow'))).numRows).toBe(2);
    await framehold(['sql', statement, '-o', 'x.parquet']);
    expect(readFileSync(at('x.parquet')).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('keeps every digit in a table', async () => {
    const { stdout } = await framehold(['sql', 'select 9223372036854775807 as n', '--format', 'table']);
    expect(stdout).toContain('9223372036854775807');
  });

  it('binds parameters and takes a limit', async () => {
    const argv = ['sql', 'select n from letters where letter = ? or n > ? order by n', '--param', 'a', '--param=-1'];
    expect((await framehold([...argv, '--limit', '2'])).stdout.replaceAll('\r', '')).toBe('n\n1\n2\n');
  });

  it('sends settings with each statement', async () => {
    const run = (...more: string[]) =>
      framehold(['sql', 'show TimeZone; select 7 / 2 as n', '--format', 'tsv', ...more]);
    const { stdout } = await run('--set', 'TimeZone=Asia/Tokyo', '--set', 'integer_division=true');
    expect(stdout.replaceAll('\r', '')).toBe('TimeZone\nAsia/Tokyo\nn\n3\n');
    expect((await run('--set', 'TimeZon=UTC')).stderr).toContain('did you mean TimeZone?');
    expect((await run('--set', 'TimeZone')).stderr).toContain('write --set TimeZone=Europe/Berlin');
  });

  it('runs what changes frames', async () => {
    const handle = newHandle();
    const { stdout } = await framehold(['sql', '--format', 'table'], {
      stdin: `create table ${handle} as select 1 as n;\ninsert into ${handle} values (2); -- that is all;\nselect ';' as s from ${handle}`,
    });
    expect(stdout).toBe('OK\nOK, 1 row\ns\n-\n;\n;\n(2 rows)\n');
  });

  it('stops at the first statement that fails', async () => {
    const { status, stdout, stderr } = await framehold(['sql'], { stdin: 'select 1 as a; selec 2; select 3;' });
    expect({ status, stdout: stdout.replaceAll('\r', '') }).toEqual({ status: 1, stdout: 'a\n1\n' });
    expect(stderr).toMatch(/^framehold: syntax error at or near "selec".*\n$/);
  });

  it('writes no file for several statements', async () => {
    expect(await framehold(['sql', 'select 1; select 2', '-o', 'x.csv'])).toMatchObject({
      status: 2,
      stderr: 'framehold: --output is for one statement, and there are 2\n',
    });
  });

  it('says that an engine is not there', async () => {
    expect(await framehold(['sql', 'select 1', '--engine', 'tsdb'])).toMatchObject({ status: 1, stdout: '' });
  });
});

describe('framehold ping', () => {
  it('tells of both listeners', async () => {
    const { status, stdout } = await framehold(['ping']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP {2}http:\/\/127.0.0.1:\d+ answers \(Framehold [\d.]+\) in [\d.]+ m?s\n/);
    expect(stdout).toMatch(/\ngRPC {2}grpc:\/\/127.0.0.1:\d+ answers in [\d.]+ m?s\n$/);
  });
});

describe('the server is', () => {
  const other = 'http://127.0.0.1:1';

  it('that of --server before that of the environment', async () => {
    const env = { FRAMEHOLD_SERVER: other };
    expect(await framehold(['ping', '--server', server.url], { env })).toMatchObject({ status: 0 });
  });

  it('that of FRAMEHOLD_SERVER before that of SERVICE_SERVER', async () => {
    const env = { FRAMEHOLD_SERVER: server.url, SERVICE_SERVER: other };
    expect(await framehold(['ping'], { env })).toMatchObject({ status: 0 });
  });

  it('that of the environment before that of the config file', async () => {
    write('config.toml', `[client]\nserver = "${server.url}"\n`);
    const argv = ['ping', '--config', 'config.toml'];
    expect(await framehold(argv, { env: {} })).toMatchObject({ status: 0 });
    expect((await framehold(argv, { env: { SERVICE_SERVER: other } })).stderr).toContain(other);
  });

  it('found also where a setting of a server is wrong', async () => {
    const env = { FRAMEHOLD_SERVER: server.url, FRAMEHOLD_GRPC_PORT: 'tcp://10.0.0.1:50052' };
    expect(await framehold(['ping'], { env })).toMatchObject({ status: 0 });
  });
});

describe('wrong usage exits with 2 and one line that says why:', () => {
  it.each([
    [['put'], 'put needs FILE…; "framehold put --help" shows how'],
    [['put', 'x.csv', '--overwite'], 'unknown flag "--overwite"; did you mean --overwrite?'],
    [['put', 'x.csv', '--append', '--overwrite'], '--append and --overwrite exclude each other; give one of them'],
    [['put', 'a.csv', 'b.csv', '--handle', 'x'], '--handle names one frame, and there are 2 files; --append puts'],
    [['put', 'a/x.csv', 'b/x.csv'], '"a/x.csv" and "b/x.csv" would both be x'],
    [['put', 'my file.csv'], 'the name of "my file.csv" gives no handle'],
    [['get', 'x', '-o', 'x.xlsx'], 'the ending of "x.xlsx" names no format; give --format csv|tsv|'],
    [['get', 'x', '--format', 'xml'], '--format is "xml"; expected one of csv, tsv, parquet, arrow, json, ndjson'],
    [['get', 'x', '--limit', 'all'], '--limit is "all"; expected a whole number of 0 or more'],
    [['get', 'x', 'y'], 'unexpected argument "y"; usage: framehold get HANDLE'],
    [['rm', 'x', '--if-version'], '--if-version needs a value: --if-version N'],
    [
      ['ping', '--server', 'localhost:9000'],
      'client.server is "localhost:9000" (set by --server); expected a base URL',
    ],
    [['completion', 'tcsh'], 'unknown argument "tcsh"'],
    [['sql', ' -- nothing'], 'the statement is empty'],
  ])('%j', async (argv, line) => {
    const { status, stdout, stderr } = await framehold(argv);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.startsWith(`framehold: ${line}`), stderr).toBe(true);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});

it('fails when standard output cannot take what it writes', async () => {
  const script = `"${process.execPath}" dist/main.js get letters --server ${server.url} > /dev/full`;
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const failed = await promisify(execFile)('bash', ['-c', script], { cwd: root }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 1, stderr: 'framehold: standard output cannot be written (ENOSPC)\n' });
});
