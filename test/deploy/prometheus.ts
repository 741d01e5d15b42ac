import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianPackage } from '../support/debian-package.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Unix seconds, and the number as text. */
  readonly value: readonly [number, string];
}

export interface Prometheus extends AsyncDisposable {
  /** The answer of an instant query. Rejects where the query is not one. */
  query(expression: string): Promise<readonly Series[]>;
  /** The names of the alerts that fire. */
  firing(): Promise<ReadonlySet<string>>;
}

export interface PrometheusOptions {
  /** `host:port` of the servers. */
  readonly targets: readonly string[];
  readonly token?: string;
  /** Rules as YAML. */
  readonly rules?: string;
}

/** Where Prometheus and promtool are. Throws Missing. */
export async function prometheusFolder(): Promise<string> {
  return join(await debianPackage('prometheus', 'usr/bin/prometheus'), 'usr', 'bin');
}

/** What promtool says of its input. Rejects where it finds a fault. */
export async function promtool(folder: string, args: readonly string[], input = ''): Promise<string> {
  const running = run(join(folder, 'promtool'), args);
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

/** Debian's Prometheus, which looks at the targets and the rules each second. */
export async function startPrometheus(folder: string, options: PrometheusOptions): Promise<Prometheus> {
  const directory = await temporaryDirectory();
  const file = (name: string): string => join(directory.path, name);
  await writeFile(file('rules.yml'), options.rules ?? 'groups: []\n');
  await writeFile(file('token'), options.token ?? '');
  const authorization = options.token === undefined ? {} : { authorization: { credentials_file: file('token') } };
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [file('rules.yml')],
    scrape_configs: [{ job_name: 'framehold', ...authorization, static_configs: [{ targets: options.targets }] }],
  };
  // JSON is YAML.
  await writeFile(file('prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    join(folder, 'prometheus'),
    [
      `--config.file=${file('prometheus.yml')}`,
      `--storage.tsdb.path=${file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const api = async (path: string): Promise<{ readonly data: never }> => {
    const answer = await ask(`${url}/api/v1/${path}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.json() as unknown as { readonly data: never };
  };
  for (const start = Date.now(); ; ) {
    const isReady = await ask(`${url}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) break;
    if (Date.now() - start > 30_000 || child.exitCode !== null) throw new Error(`Prometheus did not start: ${log}`);
  }
  return {
    async query(expression) {
      const { data } = await api(`query?query=${encodeURIComponent(expression)}`);
      return (data as { readonly result: readonly Series[] }).result;
    },
    async firing() {
      const { data } = await api('alerts');
      const { alerts } = data as {
        readonly alerts: readonly { readonly labels: { readonly alertname: string }; readonly state: string }[];
      };
      return new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await directory[Symbol.asyncDispose]();
    },
  };
}
