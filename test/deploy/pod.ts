import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeTlsFiles } from '../support/tls-framehold.ts';
import { type Container, type Mount, startContainer } from './container.ts';
import { pairsOf } from './dockerfile.ts';
import { nodeOfImage, stagesOfImage } from './image.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Manifest<Spec = unknown> {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Spec;
  readonly data?: Readonly<Record<string, string>>;
}

export type Labels = Readonly<Record<string, string>>;

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface PodContainer {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
}

export interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly containers: readonly PodContainer[];
  readonly volumes: readonly Volume[];
}

export interface Deployment {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: Labels };
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
}

/** The folders behind the volumes that pods share, and those of the pods. */
export interface Volumes {
  readonly directory: string;
  readonly uid: number;
}

const sharedVolumes = ['config', 'tls', 'frames'];

/** With settings, certificate and key in their places, which the group of the pods may read. */
export async function makeVolumes(directory: string, config: string, { securityContext }: Pod): Promise<Volumes> {
  const volumes = { directory, uid: securityContext.runAsUser };
  for (const name of sharedVolumes) await mkdir(join(directory, name));
  await writeFile(join(directory, 'config/config.toml'), config);
  await makeTlsFiles(join(directory, 'tls'));
  await chmod(directory, 0o755);
  await give(volumes, ['frames', 'tls']);
  return volumes;
}

/** A pod as a container on this machine, with the build in the place of an image: container.test.ts makes one. */
export async function startPod(pod: Pod, volumes: Volumes, name: string): Promise<Container> {
  const [container] = pod.containers as readonly [PodContainer];
  const rootfs = join(volumes.directory, `${name}-root`);
  await mkdir(join(rootfs, 'local/bin'), { recursive: true });
  await symlink('/opt/framehold/dist/main.js', join(rootfs, 'local/bin/framehold'));
  const mounts: Mount[] = ['dist', 'node_modules', 'package.json'].map((each) => ({
    ...{ from: join(root, each), to: `/opt/framehold/${each}`, isReadOnly: true },
  }));
  const memoryMounts: Record<string, string> = {};
  for (const { name: volume, mountPath, readOnly } of container.volumeMounts) {
    const emptyDir = pod.volumes.find((each) => each.name === volume)?.emptyDir;
    if (emptyDir?.medium === 'Memory') memoryMounts[mountPath] = String(bytesOf(emptyDir.sizeLimit ?? ''));
    else mounts.push({ from: await folderOf(volumes, volume, name), to: mountPath, isReadOnly: readOnly === true });
  }
  const env = Object.fromEntries(container.env.map((each) => [each.name, each.value]));
  return startContainer({
    ...{ rootfs, mounts, memoryMounts, node: await nodeOfImage(), uid: volumes.uid, workingDirectory: '/data' },
    command: ['framehold', ...container.args],
    env: { ...environmentOfImage(), ...env },
  });
}

/** Asks as the kubelet does, and fails where that would. */
export function commandOfProbe(pod: Pod, { httpGet }: Probe): readonly string[] {
  const ports = pod.containers.flatMap((container) => container.ports);
  const port = ports.find(({ name }) => name === httpGet.port)?.containerPort;
  const script = `fetch('http://127.0.0.1:${port}${httpGet.path}').then(({ ok }) => process.exit(ok ? 0 : 1))`;
  return ['node', '--eval', script];
}

/** A quantity of memory. */
export function bytesOf(quantity: string): number {
  const [, number, unit] = /^(\d+)(Gi|Mi)$/.exec(quantity) ?? [];
  return Number(number) * (unit === 'Gi' ? 2 ** 30 : 2 ** 20);
}

async function folderOf(volumes: Volumes, volume: string, pod: string): Promise<string> {
  if (sharedVolumes.includes(volume)) return join(volumes.directory, volume);
  const name = `${pod}-${volume}`;
  await mkdir(join(volumes.directory, name));
  await give(volumes, [name]);
  return join(volumes.directory, name);
}

async function give({ directory, uid }: Volumes, names: readonly string[]): Promise<void> {
  await run('chown', ['--recursive', `${uid}:${uid}`, ...names.map((name) => join(directory, name))]);
}

function environmentOfImage(): Readonly<Record<string, string>> {
  const instruction = stagesOfImage()
    .at(-1)
    ?.instructions.find(({ keyword }) => keyword === 'ENV');
  return pairsOf(instruction?.text ?? '');
}
