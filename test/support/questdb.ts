import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { questdbJar } from './questdb-jar.ts';

export interface QuestDbOptions {
  /** Basic credentials that every request must bring. */
  readonly user?: string;
  readonly password?: string;
  /** Further lines of server.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface QuestDb extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, the same after a restart; without credentials. */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process has ended or, after SIGSTOP, stands still. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again over the same data, ending it first if it runs. Resolves when it answers. */
  restart(): Promise<void>;
}

const startMs = 60_000;

/** Starts a QuestDB of its own with an empty data folder. Resolves when it answers. */
export async function startQuestDb(options: QuestDbOptions = {}): Promise<QuestDb> {
  const jar = await questdbJar();
  const folder = await mkdtemp(join(tmpdir(), 'framehold-questdb-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await mkdir(join(folder, 'conf'));
  await writeFile(join(folder, 'conf', 'server.conf'), serverConf(port, options));

  let child = await launch(jar, folder);
  const killOnExit = () => child.kill('SIGKILL');
  process.on('exit', killOnExit);

  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const dispose = async (): Promise<void> => {
    process.off('exit', killOnExit);
    await end();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  try {
    await untilItAnswers(child, url, folder);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url,
    get pid() {
      return pidOf(child);
    },
    async kill(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      if (signal === 'SIGSTOP') await untilStopped(pidOf(child));
      else if (signal !== 'SIGCONT') await exited;
    },
    async restart() {
      await end();
      child = await launch(jar, folder);
      await untilItAnswers(child, url, folder);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

function serverConf(port: number, { user, password, settings = {} }: QuestDbOptions): string {
  const lines = {
    'http.bind.to': `127.0.0.1:${port}`,
    'http.min.enabled': 'false',
    'pg.enabled': 'false',
    'line.tcp.enabled': 'false',
    'telemetry.enabled': 'false',
    'shared.worker.count': '2',
    ...(user === undefined ? {} : { 'http.user': user, 'http.password': password ?? '' }),
    ...settings,
  };
  return Object.entries(lines)
    .map(([key, value]) => `${key}=${propertyValue(value)}\n`)
    .join('');
}

/** Java reads property files as Latin-1 with escapes. */
function propertyValue(text: string): string {
  return text.replace(/[\\\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function launch(jar: string, folder: string): Promise<ChildProcess> {
  await using log = await open(logOf(folder), 'w');
  const memory = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const args = [...memory, '-p', jar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', folder];
  return spawn('java', args, { stdio: ['ignore', log.fd, log.fd] });
}

/** Any HTTP answer will do: with a password set, 401 also says that it is up. */
async function untilItAnswers(child: ChildProcess, url: string, folder: string): Promise<void> {
  const start = Date.now();
  while (Date.now() - start < startMs) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`QuestDB ended while it started:\n${await lastLines(folder)}`);
    }
    try {
      const response = await fetch(`${url}/exec?query=select%201`, { signal: AbortSignal.timeout(1000) });
      await response.arrayBuffer();
      return;
    } catch {
      await delay(50);
    }
  }
  throw new Error(`QuestDB did not answer at ${url} within ${startMs} ms:\n${await lastLines(folder)}`);
}

/** A signal takes its time to reach every thread, and a running thread may still answer. Only Linux shows them. */
async function untilStopped(pid: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const isStopped = async (thread: string): Promise<boolean> =>
    / [Tt] /.test(await readFile(`/proc/${pid}/task/${thread}/stat`, 'latin1').catch(() => ' T '));
  for (;;) {
    const threads = await readdir(`/proc/${pid}/task`);
    const stopped = await Promise.all(threads.map(isStopped));
    if (stopped.every(Boolean)) return;
    await delay(5);
  }
}

async function lastLines(folder: string): Promise<string> {
  const text = await readFile(logOf(folder), 'utf8');
  return text.split('\n').slice(-20).join('\n');
}

function logOf(folder: string): string {
  return join(folder, 'questdb.log');
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('QuestDB is not running');
  return pid;
}
