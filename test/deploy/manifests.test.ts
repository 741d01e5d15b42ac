import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { eventually } from '../support/frame-store.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { needed } from '../support/missing.ts';
import { runCommand } from '../support/spawned-command.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Container } from './container.ts';
import { containerFiles, stagesOfImage } from './image.ts';
import {
  bytesOf,
  commandOfProbe,
  type Deployment,
  type Labels,
  type Manifest,
  makeVolumes,
  type PodContainer,
  startPod,
} from './pod.ts';
import { prometheusFolder, promtool } from './prometheus.ts';
import { readYaml, validators } from './validators.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
const deploy = join(root, 'deploy');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };

const found = await needed('deployment files', validators);
const tools = found ?? '';

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
}

describe.skipIf(found === undefined)('compose.yaml', () => {
  const path = join(deploy, 'compose.yaml');
  let services: Readonly<Record<string, ComposeService>>;

  beforeAll(async () => {
    const [[compose] = []] = await readYaml(tools, [path]);
    services = (compose as { services: typeof services }).services;
  });

  const check = (file: string) =>
    run(join(tools, 'check-jsonschema'), ['--builtin-schema', 'vendor.compose-spec', file]);

  test('is as the specification of Compose wants it', async () => {
    expect((await check(path)).stdout).toContain('ok');
    await using directory = await temporaryDirectory();
    const wrong = join(directory.path, 'compose.yaml');
    await writeFile(wrong, readFileSync(path, 'utf8').replace('shm_size', 'shm_sizes'));
    await expect(check(wrong)).rejects.toMatchObject({ stdout: expect.stringContaining('shm_sizes') });
  });

  test('names files that are there, images of one version, and ports of this machine only', async () => {
    for (const [name, { image, build, ports, volumes, healthcheck }] of Object.entries(services)) {
      expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
      for (const volume of volumes.filter((each) => each.startsWith('.')))
        await access(join(deploy, volume.split(':')[0] ?? ''));
      // Of ours, the image knows.
      expect(healthcheck !== undefined || name === 'framehold').toBe(true);
      if (build !== undefined)
        expect(resolve(deploy, build.context, build.dockerfile)).toBe(join(containerFiles, 'Dockerfile'));
    }
    expect(services.framehold?.image).toBe(`framehold:${version}`);
    const jar = readFileSync(join(root, 'test/support/questdb-jar.ts'), 'utf8');
    expect(services.questdb?.image).toBe(`questdb/questdb:${/'([\d.]+)'\)/.exec(jar)?.[1]}`);
  });

  test('gives settings with which the server answers to the name that Prometheus asks for', async () => {
    const [[scrapes] = []] = await readYaml(tools, [join(deploy, 'prometheus/compose.yml')]);
    const [host = ''] = (scrapes as PrometheusConfig).scrape_configs[0]?.static_configs[0]?.targets ?? [];
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({
      dataDir: directory.path,
      env: services.framehold?.environment ?? {},
    });
    expect((await ask(`${server.url}/metrics`, { headers: { host } })).status).toBe(200);
    expect((await ask(`${server.url}/metrics`, { headers: { host: 'other:9000' } })).status).toBe(421);
    expect((await ask(`${server.url}/config`)).text).toContain('http://questdb:9000');
  });

  test('has the Prometheus of other places, but for the name of the server', async () => {
    const paths = ['prometheus', 'compose'].map((name) => join(deploy, `prometheus/${name}.yml`));
    const [[plain] = [], [composed] = []] = await readYaml(tools, paths);
    const named = JSON.stringify(plain).replace('localhost:9000', 'framehold:9000');
    expect(composed).toEqual(JSON.parse(named));
    const folder = await needed('Prometheus', prometheusFolder);
    if (folder !== undefined) expect(await promtool(folder, ['check', 'config', paths[1] ?? ''])).toContain('SUCCESS');
  });

  test('shows Grafana its data source and every dashboard', async () => {
    const provisioning = join(deploy, 'grafana/provisioning');
    const [[sources] = [], [boards] = []] = await readYaml(tools, [
      join(provisioning, 'datasources/prometheus.yaml'),
      join(provisioning, 'dashboards/framehold.yaml'),
    ]);
    expect(sources).toMatchObject({ datasources: [{ type: 'prometheus', url: 'http://prometheus:9090' }] });
    const path = '/var/lib/grafana/dashboards';
    expect(boards).toMatchObject({ providers: [{ type: 'file', options: { path } }] });
    const dashboards = readdirSync(join(deploy, 'grafana')).filter((name) => name.endsWith('.json'));
    expect(dashboards.length).toBeGreaterThan(0);
    expect(services.grafana?.volumes).toEqual(
      expect.arrayContaining(dashboards.map((name) => `./grafana/${name}:${path}/${name}:ro`)),
    );
  });
});

interface PrometheusConfig {
  readonly scrape_configs: readonly { readonly static_configs: readonly { readonly targets: readonly string[] }[] }[];
}

describe.skipIf(found === undefined)('the manifests for Kubernetes', () => {
  const folder = join(deploy, 'kubernetes');
  const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
  let manifests: readonly Manifest[];
  let deployment: Deployment;
  const pod = () => deployment.template.spec;
  const container = (): PodContainer => pod().containers[0] as PodContainer;
  const one = <Spec>(kind: string): Manifest<Spec> =>
    manifests.find((manifest) => manifest.kind === kind) as Manifest<Spec>;
  const config = (): string => one('ConfigMap').data?.['config.toml'] ?? '';

  beforeAll(async () => {
    manifests = (
      await readYaml(
        tools,
        files.map((name) => join(folder, name)),
      )
    ).flat() as Manifest[];
    deployment = one<Deployment>('Deployment').spec;
  });

  const validate = (release: string, ...paths: readonly string[]) =>
    run(join(tools, 'kubernetes-validate'), ['--strict', '-k', release, ...paths]);

  test('are as the schemas of Kubernetes want them, the oldest and the newest that are known', async () => {
    const paths = files.map((name) => join(folder, name));
    await Promise.all([validate('1.25.0', ...paths), validate('1.37.0', ...paths)]);
    await using directory = await temporaryDirectory();
    const wrong = join(directory.path, 'deployment.yaml');
    const text = readFileSync(join(folder, 'deployment.yaml'), 'utf8');
    await writeFile(wrong, text.replace('readinessProbe', 'readynessProbe'));
    await expect(validate('1.37.0', wrong)).rejects.toMatchObject({
      stdout: expect.stringContaining('readynessProbe'),
    });
  });

  test('are all in the kustomization, with the version of this release, and of no namespace', async () => {
    const [[kustomization] = []] = await readYaml(tools, [join(folder, 'kustomization.yaml')]);
    const { resources, images } = kustomization as { resources: string[]; images: { newTag: string }[] };
    expect([...resources].sort()).toEqual([...files].sort());
    expect(images[0]?.newTag).toBe(version);
    expect(container().image).toBe(`framehold:${version}`);
    expect(manifests.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
  });

  test('fit together: two servers, on one volume that all may write, of which one stays', () => {
    const labels = deployment.template.metadata.labels;
    const service = one<{ selector: Labels; ports: { port: number; targetPort: string }[] }>('Service').spec;
    const budget = one<{ minAvailable: number; selector: { matchLabels: Labels } }>('PodDisruptionBudget').spec;
    expect([service.selector, budget.selector.matchLabels, deployment.selector.matchLabels]).toEqual([
      labels,
      labels,
      labels,
    ]);
    expect([deployment.replicas, budget.minAvailable]).toEqual([2, 1]);
    const ports = new Map(container().ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(service.ports.map(({ targetPort }) => ports.get(targetPort))).toEqual(service.ports.map(({ port }) => port));
    const image = stagesOfImage()
      .at(-1)
      ?.instructions.find(({ keyword }) => keyword === 'EXPOSE');
    expect([...ports.values()].join(' ')).toBe(image?.text);
    const claim = one<{ accessModes: string[] }>('PersistentVolumeClaim');
    expect(claim.spec.accessModes).toEqual(['ReadWriteMany']);
    const used = pod().volumes.map(
      ({ persistentVolumeClaim, configMap }) => persistentVolumeClaim?.claimName ?? configMap?.name,
    );
    expect(used.filter((name) => name !== undefined)).toEqual([one('ConfigMap').metadata.name, claim.metadata.name]);
  });

  test('leave room for what the settings take: caches, DuckDB processes, shared memory', async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, 'config.toml');
    await writeFile(path, config());
    const { stdout, status, stderr } = await runCommand(['config', '--config', path], { cwd: directory.path });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const value = (key: string): string => new RegExp(`^${key}\\s+(\\S+)`, 'm').exec(stdout)?.[1] ?? '';
    // As many for frames and for SQL, and two in the background; 80 MB of each are not DuckDB's.
    const processes = 2 * Number(value('sql.workers')) + 2;
    const shared = bytesOf(pod().volumes.find(({ name }) => name === 'memory')?.emptyDir?.sizeLimit ?? '');
    const most =
      1e8 +
      Number(value('storage.cache_size_gb')) * 1e9 +
      processes * (Number(value('sql.memory_gb')) * 1e9 + 8e7) +
      shared;
    expect(bytesOf(container().resources.limits.memory)).toBeGreaterThan(most);
    expect(shared).toBeGreaterThan(processes * 16 * 2 ** 20);
    expect(pod().terminationGracePeriodSeconds).toBeGreaterThan(
      5 + Number.parseInt(value('server.shutdown_grace'), 10) + 3,
    );
  });

  const canRun = !leftOutWithoutMount() && found !== undefined;

  test.skipIf(!canRun)(
    'run as they stand: probes are answered, and each server shows what the other took',
    async () => {
      await using cleanup = new Cleanup();
      const { path } = cleanup.use(await temporaryDirectory());
      const volumes = await makeVolumes(path, config(), pod());
      const start = async (name: string): Promise<Container> => cleanup.use(await startPod(pod(), volumes, name));
      const servers = await Promise.all([start('first'), start('second')]);
      const [first, second] = servers;
      const { startupProbe, livenessProbe, readinessProbe } = container();
      const succeeds = (promise: Promise<unknown>) =>
        promise.then(
          () => true,
          () => false,
        );
      for (const server of servers)
        for (const probe of [startupProbe, livenessProbe, readinessProbe])
          await eventually(() => succeeds(server.exec(commandOfProbe(pod(), probe))));
      const made = ['framehold', 'token', 'create', '--role', 'admin', '--name', 'me', '--data-dir', '/data'];
      const token = (await first.exec(made)).trim();
      const client =
        'FRAMEHOLD_TOKEN=$0 exec framehold "$@" --server https://localhost:9000 --ca-file /etc/framehold/tls/ca.crt';
      const call = (server: Container, command: readonly string[], input?: string): Promise<string> =>
        server.exec(['sh', '-c', client, token, ...command], input);
      // The other server knows of a token, and of a frame, within a second.
      for (const server of servers) await eventually(() => succeeds(call(server, ['whoami'])));
      await call(first, ['put', '-', '--handle', 'trades', '--format', 'csv'], 'a\n1\n2\n');
      const sum = () => call(second, ['sql', 'select sum(a) as s from trades', '--format', 'csv']);
      await eventually(() => succeeds(sum()));
      expect(await first.stop()).toBe(0);
      expect((await sum()).split(/\s+/)).toContain('3');
      for (const server of servers) expect(server.log()).not.toMatch(/EROFS|EACCES|EPERM/);
    },
  );
});
