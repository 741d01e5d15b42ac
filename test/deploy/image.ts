import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from '../support/cached.ts';
import { nodeBinary } from '../support/node-binary.ts';
import { type ContainerOptions, runInImage } from './container.ts';
import { execForm, type Instruction, pairsOf, parseDockerfile, type Stage } from './dockerfile.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
export const containerFiles = join(root, 'deploy/container');

export interface Image {
  readonly rootfs: string;
  readonly uid: number;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** What a container starts. */
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
}

/** The Node of the image. Throws Missing. */
export function nodeOfImage(): Promise<string> {
  return nodeBinary(24);
}

export function stagesOfImage(): readonly Stage[] {
  return parseDockerfile(readFileSync(join(containerFiles, 'Dockerfile'), 'utf8'));
}

/** The same as `docker build`, on the system folders of this machine instead of an image that would have to be fetched. */
export async function buildImage(folder: string): Promise<Image> {
  const built = new Map<string, string>();
  let last: Image | undefined;
  for (const [at, stage] of stagesOfImage().entries()) {
    const rootfs = join(folder, stage.name ?? `stage-${at}`);
    last = await buildStage(stage, rootfs, built);
    if (stage.name !== undefined) built.set(stage.name, rootfs);
  }
  if (last === undefined) throw new Error('the Dockerfile has no FROM');
  return last;
}

/** Fetches what the stages install, before anything else needs it. */
export async function installLayers(): Promise<void> {
  for (const stage of stagesOfImage()) if (installOf(stage) !== undefined) await installLayer(stage);
}

/** A stage that begins with an installation has a layer of it in the cache, as a builder of images has. */
function installOf({ instructions }: Stage): readonly Instruction[] | undefined {
  const at = instructions.findIndex(({ keyword, text }) => keyword === 'RUN' && text.startsWith('npm ci'));
  return at < 0 ? undefined : instructions.slice(0, at + 1);
}

async function installLayer(stage: Stage): Promise<string> {
  const instructions = installOf(stage) ?? [];
  const hash = createHash('sha256').update(JSON.stringify([stage.image, instructions]));
  for (const { keyword, text } of instructions)
    if (keyword === 'COPY')
      for (const name of text.split(' ').slice(0, -1)) hash.update(await readFile(join(root, name)));
  return cached(`image-${stage.name}-${hash.digest('hex').slice(0, 12)}`, async (folder) => {
    process.stderr.write(`installing the packages of the image (${stage.name}) …\n`);
    await apply(instructions, folder, new Map());
  });
}

async function buildStage(stage: Stage, rootfs: string, built: ReadonlyMap<string, string>): Promise<Image> {
  const install = installOf(stage);
  // Nobody changes what was installed: links are enough.
  if (install !== undefined) await copyLinked(await installLayer(stage), rootfs);
  const image = await apply(stage.instructions, rootfs, built, install?.length ?? 0);
  await rm(join(rootfs, '.complete'), { recursive: true, force: true });
  return image;
}

/** `done`: of the instructions, those at the beginning that have already changed the files. */
async function apply(
  instructions: readonly Instruction[],
  rootfs: string,
  built: ReadonlyMap<string, string>,
  done = 0,
): Promise<Image> {
  const state = { workingDirectory: '/', env: {} as Record<string, string>, uid: 0 };
  const settings = {
    entrypoint: [] as readonly string[],
    command: [] as readonly string[],
    healthCheck: [] as readonly string[],
  };
  const [ports, volumes]: [number[], string[]] = [[], []];
  for (const [at, { keyword, text, flags }] of instructions.entries()) {
    const isNew = at >= done;
    if (keyword === 'WORKDIR') {
      state.workingDirectory = resolve(state.workingDirectory, text);
      await mkdir(join(rootfs, state.workingDirectory), { recursive: true });
    } else if (keyword === 'ENV') Object.assign(state.env, pairsOf(text));
    else if (keyword === 'COPY' && isNew)
      await copy(
        text,
        flags.from === undefined ? undefined : built.get(flags.from),
        join(rootfs, state.workingDirectory),
      );
    else if (keyword === 'RUN' && isNew) await runInImage(await optionsOf(rootfs, state, text), text);
    else if (keyword === 'USER') state.uid = Number(text.split(':')[0]);
    else if (keyword === 'EXPOSE') ports.push(...text.split(' ').map(Number));
    else if (keyword === 'VOLUME') volumes.push(text);
    else if (keyword === 'ENTRYPOINT') settings.entrypoint = execForm(text);
    else if (keyword === 'CMD') settings.command = execForm(text);
    else if (keyword === 'HEALTHCHECK') settings.healthCheck = execForm(text);
    else if (!['COPY', 'RUN', 'LABEL', 'STOPSIGNAL'].includes(keyword)) throw new Error(`${keyword} is not known here`);
  }
  const { entrypoint, command, healthCheck } = settings;
  return { rootfs, ...state, command: [...entrypoint, ...command], healthCheck, ports, volumes };
}

/** Whole files where one file system does not hold both. */
async function copyLinked(from: string, to: string): Promise<void> {
  await run('cp', ['--archive', '--link', from, to]).catch(() => run('cp', ['--archive', from, to]));
}

async function optionsOf(
  rootfs: string,
  { workingDirectory, env }: { readonly workingDirectory: string; readonly env: Readonly<Record<string, string>> },
  command: string,
): Promise<ContainerOptions> {
  const options = { rootfs, workingDirectory, env, node: await nodeOfImage(), memoryMounts: { '/tmp': '64m' } };
  if (!command.startsWith('npm')) return options;
  // The registry and the cache are those of this machine.
  const config = async (name: string): Promise<string> => (await run('npm', ['config', 'get', name])).stdout.trim();
  const [cache, registry] = [await config('cache'), await config('registry')];
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  await mkdir(cache, { recursive: true });
  return {
    ...options,
    mounts: [{ from: cache, to: '/npm-cache' }],
    env: {
      ...env,
      ...{ HOME: '/tmp', npm_config_cache: '/npm-cache', npm_config_registry: registry },
      ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }),
    },
  };
}

/** From another stage, or of the clone what `.dockerignore` lets in. */
async function copy(text: string, stage: string | undefined, workingDirectory: string): Promise<void> {
  const names = text.split(/\s+/);
  const to = resolve(workingDirectory, names.pop() ?? '');
  for (const name of names) {
    if (stage === undefined) await copyOfContext(name, to);
    else await copyLinked(join(stage, name), to);
  }
}

async function copyOfContext(name: string, to: string): Promise<void> {
  const [first, ...rules] = (await readFile(join(containerFiles, 'Dockerfile.dockerignore'), 'utf8'))
    .trim()
    .split('\n');
  if (first !== '*' || rules.some((rule) => !/^![\w.-]+$/.test(rule))) throw new Error('.dockerignore has other rules');
  const names = name === '.' ? rules.map((rule) => rule.slice(1)) : [name];
  for (const each of names) {
    const [top = ''] = each.split('/');
    if (!rules.includes(`!${top}`)) throw new Error(`.dockerignore leaves ${each} out`);
    await cp(join(root, each), join(to, basename(each)), { recursive: true });
  }
}
