import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { grpcAddress } from './support/case-suite.ts';
import { python } from './support/python.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const examples = join(root, 'examples');
const interpreter = await needed('the example in Python', python);

let server: Framehold;
let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
  server = await startFramehold();
});
afterAll(async () => {
  over.abort();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Ends programs that a failure leaves behind. */
const over = new AbortController();

/** The lines that a program prints, before the server of this test. */
async function printed(command: string, ...args: readonly string[]): Promise<readonly string[]> {
  const env = {
    ...process.env,
    FRAMEHOLD_SERVER: server.url,
    FRAMEHOLD_FLIGHT: `grpc://${grpcAddress(server)}`,
    HOME: folder.path,
  };
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder.path, env, signal: over.signal });
  return stdout.trimEnd().split(/\r?\n/);
}

describe.concurrent('the example', () => {
  test('import-and-query.sh imports a CSV, asks about it and exports it', async () => {
    expect(await printed(join(examples, 'import-and-query.sh'))).toEqual([...['city,mean', 'Lima,25.0', 'Oslo,-3.0']]);
    expect((await readFile(join(folder.path, 'weather.parquet'))).subarray(0, 4).toString()).toBe('PAR1');
  });

  test.skipIf(interpreter === undefined)('flight_polars.py gets what it put, and an SQL result', async () => {
    expect(await printed(interpreter ?? '', join(examples, 'flight_polars.py'))).toEqual([
      ...['(4, 2) 71044.5', "('BTC', 426241.25)", "('ETH', 27116.0)"],
    ]);
  });

  test('typescript-client.ts puts, queries and appends, and shows the code of an error', async () => {
    const program = join(folder.path, 'typescript-client.mjs');
    await esbuild.build({
      entryPoints: [join(examples, 'typescript-client.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      external: ['apache-arrow'],
    });
    const [low, high, appended, error] = await printed(process.execPath, program);
    expect([low, high, appended]).toEqual(['ETH 3012.5', 'BTC 71039.35', 'appended 1']);
    expect(error).toMatch(/^sql_error .*prise/);
  });

  test('follow.mjs prints the rows that line-protocol.mjs sends beside it, each once', async () => {
    const [followed, sender] = await Promise.all([
      printed(process.execPath, join(examples, 'follow.mjs'), 'example_sensors', '6'),
      printed(process.execPath, join(examples, 'line-protocol.mjs')),
    ]);
    expect(sender).toEqual(['sent 3 batches of 2 rows']);
    const rows = followed.map((line) => JSON.parse(line));
    const celsius = { s1: 21, s2: 22 };
    const sent = [0, 1, 2].flatMap((batch) => Object.entries(celsius).map((of) => [batch, ...of]));
    expect(rows.map((row) => [row.batch, row.sensor, row.celsius])).toEqual(sent);
  });
});

const programs = readdirSync(examples).filter((name) => name !== 'README.md');

test.each(programs)('%s begins with a comment of three lines, has under 60, and is listed', (name) => {
  const lines = readFileSync(join(examples, name), 'utf8').split('\n');
  const head = lines.filter((line) => !line.startsWith('#!'));
  expect(lines.length).toBeLessThan(61);
  expect(head.findIndex((line) => !/^(#|\/\/) /.test(line))).toBe(3);
  expect(readFileSync(join(examples, 'README.md'), 'utf8')).toContain(`\n| [${name}](${name}) `);
});
