import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/frame-store.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { needed } from '../support/missing.ts';
import { familyOf } from '../support/process-facts.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { type Container, type ServiceOptions, startContainer } from './container.ts';
import { pairsOf } from './dockerfile.ts';
import { buildImage, containerFiles, type Image, installLayers, nodeOfImage, stagesOfImage } from './image.ts';
import { validators } from './validators.ts';

const run = promisify(execFile);

const tools = await needed('hadolint', validators);

describe('the Dockerfile', () => {
  test.skipIf(tools === undefined)('breaks no rule of hadolint', async () => {
    const args = ['--no-color', '--failure-threshold', 'style', join(containerFiles, 'Dockerfile')];
    const { stdout } = await run(join(tools ?? '', 'hadolint'), args);
    expect(stdout).toBe('');
  });

  test('builds and serves on the Node that is tested here', () => {
    const { optionalDependencies } = JSON.parse(
      readFileSync(new URL('../node-versions/package.json', import.meta.url), 'utf8'),
    ) as { optionalDependencies: Record<string, string> };
    const images = new Set(stagesOfImage().map(({ image }) => image));
    expect([...images]).toEqual([`node:${optionalDependencies['node24-linux-x64']?.split('@').at(-1)}-bookworm-slim`]);
  });

  test('names the image by the labels that registries show', () => {
    const labels = stagesOfImage()
      .at(-1)
      ?.instructions.find(({ keyword }) => keyword === 'LABEL');
    const { license } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(pairsOf(labels?.text ?? '')).toMatchObject({
      'org.opencontainers.image.title': 'Framehold',
      'org.opencontainers.image.licenses': license,
    });
  });
});

const canBuild =
  !leftOutWithoutMount() &&
  (await needed('the image', () => Promise.all([nodeOfImage(), installLayers()]))) !== undefined;

describe.skipIf(!canBuild)('the image', () => {
  let directory: TemporaryDirectory;
  let image: Image;
  let container: Container;

  const options = async (name: string, more: Partial<ServiceOptions> = {}): Promise<ServiceOptions> => {
    const data = join(directory.path, name);
    await mkdir(data);
    await chown(data, image.uid, image.uid);
    return {
      ...image,
      node: await nodeOfImage(),
      mounts: image.volumes.map((to) => ({ from: data, to })),
      memoryMounts: { '/tmp': '16m' },
      ...more,
    };
  };
  const isHealthy = (which: Container): Promise<boolean> =>
    which.exec(image.healthCheck).then(
      () => true,
      () => false,
    );

  beforeAll(async () => {
    directory = await temporaryDirectory();
    image = await buildImage(directory.path);
    container = await startContainer(await options('data'));
    await eventually(() => isHealthy(container));
  });

  afterAll(async () => {
    await container?.[Symbol.asyncDispose]();
    await directory?.[Symbol.asyncDispose]();
  });

  test('serves without any right, on a root that cannot be written, and says that it is healthy', async () => {
    expect(container.log()).toContain('http://0.0.0.0:9000');
    expect(await container.exec(['sh', '-c', 'touch /opt/framehold/x 2>&1 || true'])).toContain(
      'Read-only file system',
    );
    for (const pid of familyOf(container.pid())) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\t${image.uid}\t`, 'm'));
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
    }
  });

  test('holds nothing but the program and what it needs', async () => {
    const files = await container.exec(['ls', '-A', '/opt/framehold', '/opt/framehold/node_modules']);
    expect(files.split('\n').filter((line) => !/^(\/|\.|@|$)/.test(line))).toEqual([
      ...['LICENSE', 'dist', 'node_modules', 'package.json'],
      ...['detect-libc', 'fzstd', 'jose', 'smol-toml', 'undici'],
    ]);
  });

  test('has the ports open that it names, and the command line', async () => {
    for (const port of image.ports)
      await container.exec(['node', '--eval', `require('net').connect(${port}, '127.0.0.1', () => process.exit(0))`]);
    await container.exec(['framehold', 'put', '-', '--handle', 'trades', '--format', 'csv'], 'a\n1\n2\n');
    expect(await container.exec(['framehold', 'sql', 'select sum(a) as s from trades', '--format', 'json'])).toContain(
      '3',
    );
    expect(await container.exec(['framehold', 'ping'])).toContain('gRPC');
  });

  test('sends all rows where there is no room in the shared memory', async () => {
    await using small = await startContainer(
      await options('small', { memoryMounts: { '/dev/shm': '4k', '/tmp': '16m' } }),
    );
    await eventually(() => isHealthy(small));
    const rows = 300_000;
    const statement = `select i, repeat('x', 20) as text from range(${rows}) t(i)`;
    const lines = await small.exec(['sh', '-c', 'framehold sql "$0" --format csv | wc --lines', statement]);
    expect(lines).toBe(`${rows + 1}\n`);
    expect(small.log()).not.toContain('"error"');
  });

  test('is unhealthy where no server answers', async () => {
    await using idle = await startContainer(await options('idle', { command: ['sleep', 'infinity'] }));
    await expect(idle.exec(image.healthCheck)).rejects.toMatchObject({ code: 1 });
  });

  test('ends with success at the signal that it names, as the first process of its container', async () => {
    const signal = stagesOfImage()
      .at(-1)
      ?.instructions.find(({ keyword }) => keyword === 'STOPSIGNAL');
    expect(signal?.text).toBe('SIGTERM');
    expect(readFileSync(`/proc/${container.pid()}/status`, 'utf8')).toMatch(/^NSpid:.*\t1$/m);
    expect(await container.stop()).toBe(0);
  });
});
