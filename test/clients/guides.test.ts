import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { startQuestDb } from '../support/questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { grpcAddress } from './support/case-suite.ts';
import { type GuideBlock, guideBlocks } from './support/guide.ts';
import { javaWithJdbcDriver, jdbcDriverVersion } from './support/jdbc-driver.ts';
import { python } from './support/python.ts';
import { buildWheel, installInto, packageTools } from './support/python-package.ts';
import { type SecureServer, startSecureServer } from './support/secure-server.ts';

const run = promisify(execFile);
const separator = '\u001e';

const programs = await needed('the guides', async () => ({
  java: await javaWithJdbcDriver(),
  python: await python(),
  tools: await packageTools(),
}));

describe.skipIf(programs === undefined)('the code of', () => {
  let server: Framehold;
  let secure: SecureServer;
  let modules: TemporaryDirectory;
  beforeAll(async () => {
    modules = await temporaryDirectory();
    await installInto(modules.path, await buildWheel(programs?.tools ?? '', join(modules.path, 'built')));
    const settings = { 'frames.demo': 'true' };
    server = await startFramehold({ settings });
    secure = await startSecureServer(settings);
    await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(secure.folder, 'node_modules'));
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await secure[Symbol.asyncDispose]();
    await modules[Symbol.asyncDispose]();
  });

  /** To a server of this test. */
  const redirected = ({ code, isSecure }: GuideBlock): string => {
    const to = isSecure ? secure : server;
    const http = `localhost:${new URL(to.url).port}`;
    return code.replaceAll('localhost:50052', grpcAddress(to)).replaceAll('localhost:9000', http);
  };
  /** In the folder with the token and the certificates. */
  const printed = async (command: string, args: readonly string[]): Promise<string> =>
    (await run(command, args, { cwd: secure.folder, env: { ...process.env, PYTHONPATH: modules.path } })).stdout;
  const javaPrinted = async (block: GuideBlock, name: string): Promise<string> => {
    const path = join(secure.folder, name);
    await writeFile(path, redirected(block));
    const [command = '', ...args] = programs?.java ?? [];
    return printed(command, [...args, path]);
  };

  test('the README runs', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, code = ''] = /```python\n([\s\S]*?)```/.exec(readme) ?? [];
    const http = `localhost:${new URL(server.url).port}`;
    const output = await printed(programs?.python ?? '', ['-c', code.replace('localhost:9000', http)]);
    expect(output.match(/71039.35|71037.44|71037.81/g)).toHaveLength(3);
    expect(output).toContain("[{'id': 1, 'price': 10.5}, {'id': 2, 'price': 11.0}]");
  });

  test.each(['flight-sql.md', 'python.md', 'polars-pandas.md'])('%s prints what stands below it', async (guide) => {
    const blocks = guideBlocks(guide);
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['python']));
    const code = blocks.map(redirected).join(`\nprint(${JSON.stringify(separator)}, end="")\n`);
    expectPrinted((await printed(programs?.python ?? '', ['-c', code])).split(separator), blocks);
  });

  test('jdbc-dbeaver.md prints what stands below it', { timeout: 60_000 }, async () => {
    const blocks = guideBlocks('jdbc-dbeaver.md');
    expect(blocks.map(({ language }) => language)).toEqual(['java', 'java']);
    const outputs = blocks.map((block, index) => javaPrinted(block, `Guide${index}.java`));
    expectPrinted(await Promise.all(outputs), blocks);
  });

  test.each(['access.md', 'streaming.md'])('%s prints what stands below it', async (guide) => {
    const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
      sh: ['bash', '-euc'],
      js: ['node', '--input-type=module', '-e'],
      python: [programs?.python ?? '', '-c'],
    };
    const blocks = guideBlocks(guide);
    const outputs: string[] = [];
    for (const block of blocks) {
      const [command = '', ...args] = commands[block.language] ?? [];
      outputs.push(await printed(command, [...args, redirected(block)]));
    }
    expectPrinted(outputs, blocks);
  });
});

describe.skipIf(await questdbUnavailable())('the code with a QuestDB of', () => {
  test('federation.md prints what stands below it', { timeout: 120_000 }, async () => {
    await using folder = await temporaryDirectory();
    await using questdb = await startQuestDb({ settings: { 'cairo.sql.copy.root': join(folder.path, 'cold') } });
    const settings = { 'tsdb.http_url': questdb.url };
    await using server = await startFramehold({ dataDir: folder.path, settings });
    const blocks = guideBlocks('federation.md');
    const outputs: string[] = [];
    for (const { code } of blocks) {
      const redirected = code
        .replaceAll('localhost:9001', new URL(questdb.url).host)
        .replaceAll('localhost:9000', new URL(server.url).host);
      // What was written is seen a moment later.
      const isSeen = `curl -sS -G ${questdb.url}/exec --data-urlencode "query=SELECT wait_wal_table('trades')" -o /dev/null`;
      const { stdout } = await run('bash', ['-euc', `${redirected}\n${isSeen}`], { cwd: folder.path });
      outputs.push(stdout);
    }
    const lines = (text: string | undefined): string | undefined => text?.trimEnd();
    expect(outputs.map(lines)).toEqual(blocks.map(({ prints }) => lines(prints)));
  });
});

test('jdbc-dbeaver.md names the version of the driver that is tested', () => {
  const text = readFileSync(new URL('../../docs/guides/jdbc-dbeaver.md', import.meta.url), 'utf8');
  const versions = [...text.matchAll(/flight-sql-jdbc-driver[:-]([\d.]+\d)/g)].map((match) => match[1]);
  expect(new Set(versions)).toEqual(new Set([jdbcDriverVersion]));
});

test('jdbc-dbeaver.md names the versions of the programs and libraries that are tested', () => {
  const guide = readFileSync(new URL('../../docs/guides/jdbc-dbeaver.md', import.meta.url), 'utf8');
  const pom = readFileSync(new URL('java/tools/pom.xml', import.meta.url), 'utf8');
  const versions = [...pom.matchAll(/<version>([\d.]+\.[\d.]+)<\/version>/g)].map((match) => match[1]);
  expect(versions).toHaveLength(5);
  const spark = readFileSync(new URL('../cluster/requirements.txt', import.meta.url), 'utf8');
  for (const version of [...versions, /^pyspark==(.*)$/m.exec(spark)?.[1]]) expect(guide).toContain(` | ${version} | `);
});

test('python.md names the versions of SQLAlchemy, its dialect and dlt that are tested', () => {
  const guide = readFileSync(new URL('../../docs/guides/python.md', import.meta.url), 'utf8');
  const requirements = readFileSync(new URL('requirements.txt', import.meta.url), 'utf8');
  const version = (name: string): string | undefined => new RegExp(`^${name}==(.*)$`, 'm').exec(requirements)?.[1];
  expect(guide).toContain(` ${version('SQLAlchemy')} with ${version('sqlalchemy-adbc')} |`);
  expect(guide).toContain(`| dlt | ${version('dlt')} |`);
});

function expectPrinted(outputs: readonly string[], blocks: readonly GuideBlock[]): void {
  const expected = blocks.map(({ prints }, index) => prints ?? outputs[index]);
  expect(outputs).toEqual(expected);
}
