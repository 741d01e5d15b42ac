import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { grpcAddress } from './support/case-suite.ts';
import { type GuideBlock, guideBlocks } from './support/guide.ts';
import { javaWithJdbcDriver, jdbcDriverVersion } from './support/jdbc-driver.ts';
import { python } from './support/python.ts';

const run = promisify(execFile);
const separator = '\u001e';

const programs = await needed('the guides', async () => ({ java: await javaWithJdbcDriver(), python: await python() }));

describe.skipIf(programs === undefined)('the code of', () => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold({ settings: { 'frames.demo': 'true' } });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  /** To the server of this test. */
  const redirected = (code: string): string =>
    code.replaceAll('localhost:50052', grpcAddress(server)).replaceAll('http://localhost:9000', server.url);

  test('the README runs', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, code = ''] = /```python\n([\s\S]*?)```/.exec(readme) ?? [];
    const { stdout } = await run(programs?.python ?? '', ['-c', code.replace('127.0.0.1:50052', grpcAddress(server))]);
    expect(stdout).toContain('high: [[71039.35,71037.44,71037.81]]');
  });

  test.each(['flight-sql.md', 'python.md', 'polars-pandas.md'])('%s prints what stands below it', async (guide) => {
    const blocks = guideBlocks(guide);
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['python']));
    const code = blocks.map((block) => redirected(block.code)).join(`\nprint(${JSON.stringify(separator)}, end="")\n`);
    const { stdout } = await run(programs?.python ?? '', ['-c', code]);
    expectPrinted(stdout.split(separator), blocks);
  });

  test('jdbc-dbeaver.md prints what stands below it', async () => {
    const blocks = guideBlocks('jdbc-dbeaver.md');
    expect(blocks.map(({ language }) => language)).toEqual(['java']);
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'Guide.java');
    await writeFile(path, redirected(blocks[0]?.code ?? ''));
    const [command = '', ...args] = programs?.java ?? [];
    const { stdout } = await run(command, [...args, path]);
    expectPrinted([stdout], blocks);
  });
});

test('jdbc-dbeaver.md names the version of the driver that is tested', () => {
  const text = readFileSync(new URL('../../docs/guides/jdbc-dbeaver.md', import.meta.url), 'utf8');
  const versions = [...text.matchAll(/flight-sql-jdbc-driver[:-]([\d.]+\d)/g)].map((match) => match[1]);
  expect(new Set(versions)).toEqual(new Set([jdbcDriverVersion]));
});

function expectPrinted(outputs: readonly string[], blocks: readonly GuideBlock[]): void {
  const expected = blocks.map(({ prints }, index) => prints ?? outputs[index]);
  expect(outputs).toEqual(expected);
}
