import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, type SpawnOptions, spawnFramehold } from '../../support/spawned-framehold.ts';
import type { Content, Outcome, Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { BrokenPromise, promised } from '../harness/scenario.ts';
import { rowsWritten, writesIn } from '../harness/written-rows.ts';
import type { SharedHistory, SharedWrite } from './shared-history.ts';

export const boundMs = 1000;

export type ServerOptions = Pick<SpawnOptions, 'flags' | 'env' | 'mayStandStill'>;

/** Servers of one cold directory, each with a data directory of its own. */
export class SharedServers implements AsyncDisposable {
  readonly #root: string;
  readonly #servers: (SpawnedFramehold | undefined)[];
  #lives = 0;
  readonly #names = new Map<SpawnedFramehold, string>();
  readonly #options: ServerOptions;

  constructor(root: string, count: number, options: ServerOptions = {}) {
    this.#root = root;
    this.#options = options;
    this.#servers = Array.from({ length: count }, () => undefined);
  }

  async startAll(): Promise<void> {
    await Promise.all(this.#servers.map((_, at) => this.start(at)));
  }

  async start(at: number): Promise<SpawnedFramehold> {
    const flags = ['--parquet-path', join(this.#root, 'cold'), ...(this.#options.flags ?? [])];
    const server = await spawnFramehold({ ...this.#options, dataDir: join(this.#root, `data${at}`), flags });
    this.#names.set(server, `${at}.${++this.#lives}`);
    this.#servers[at] = server;
    return server;
  }

  get living(): SpawnedFramehold[] {
    return this.#servers.filter((server) => server !== undefined).filter((server) => !server.hasExited());
  }

  at(index: number): SpawnedFramehold {
    return this.#servers[index] as SpawnedFramehold;
  }

  nameOf(server: SpawnedFramehold): string {
    return this.#names.get(server) ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#names.keys()) {
      // What was stopped is not killed before it goes on.
      server.kill('SIGCONT');
      await server[Symbol.asyncDispose]();
    }
  }
}

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'append', 'append', 'drop'];
/** After these a write may have reached the disk, although it was not acknowledged. */
const uncertain: readonly unknown[] = ['internal', 'storage_read_only', undefined];

/** Writes to and reads from handles that all servers share. */
export class SharedClients {
  readonly #servers: SharedServers;
  readonly #history: SharedHistory;
  readonly #handles: readonly string[];
  #lastNumber = 0;
  reads = 0;
  refusedReads = 0;
  slowestWriteMs = 0;

  constructor(servers: SharedServers, history: SharedHistory, handles: readonly string[]) {
    this.#servers = servers;
    this.#history = history;
    this.#handles = handles;
  }

  async keepWriting(random: Random, goesOn: () => boolean, among = () => this.#servers.living): Promise<void> {
    while (goesOn()) {
      const choices = among();
      if (choices.length > 0) await this.write(random.pick(choices), random.pick(this.#handles), random.pick(verbs));
      else await delay(5);
    }
  }

  async keepReading(random: Random, goesOn: () => boolean, among = () => this.#servers.living): Promise<void> {
    while (goesOn()) {
      const choices = among();
      if (choices.length > 0) await this.read(random.pick(choices), random.pick(this.#handles));
      await delay(random.between(0, 20));
    }
  }

  async write(server: SpawnedFramehold, handle: string, verb: Verb): Promise<SharedWrite> {
    const write: SharedWrite = {
      handle,
      verb,
      n: ++this.#lastNumber,
      server: this.#servers.nameOf(server),
      beganAt: performance.now(),
      endedAt: 0,
      outcome: 'under way',
      version: undefined,
    };
    this.#history.begin(write);
    const answer = await send(server, write);
    write.endedAt = performance.now();
    write.outcome = answer.outcome;
    write.version = answer.version;
    this.slowestWriteMs = Math.max(this.slowestWriteMs, write.endedAt - write.beganAt);
    return write;
  }

  /** Undefined where the server could not say. */
  async read(server: SpawnedFramehold, handle: string): Promise<{ content: Content } | undefined> {
    const beganAt = performance.now();
    let content: Content;
    try {
      const answer = await ask(`${server.url}/exec?handle=${handle}&fmt=json&limit=1,`);
      if (answer.status === 503) {
        promised(answer.headers['retry-after'] !== undefined, 'who is refused is told when to come again', answer.text);
        this.refusedReads++;
        return undefined;
      }
      const isGone = answer.status === 404 || answer.status === 410;
      promised(
        answer.status === 200 || isGone,
        `${handle} can be read`,
        `${answer.text} ${server.stderr().slice(-1500)}`,
      );
      content = isGone ? undefined : writesIn(answer.json().dataset as unknown[][]);
    } catch (error) {
      // The connection breaks with the server.
      if (error instanceof BrokenPromise || (error as { code?: string }).code === undefined) throw error;
      return undefined;
    }
    this.reads++;
    const read = { handle, server: this.#servers.nameOf(server), beganAt, endedAt: performance.now(), content };
    this.#history.assertRead(read);
    return { content };
  }

  /** When nothing is written any more all servers show the same, and what was acknowledged. */
  async assertAgreement(): Promise<void> {
    await delay(boundMs);
    for (const handle of this.#handles) {
      const shown = new Set<string>();
      for (const server of this.#servers.living) {
        const found = await this.read(server, handle);
        promised(found !== undefined, `${handle} can be read when all is quiet`, server.stderr().slice(-1500));
        shown.add(JSON.stringify(found.content ?? 'no frame'));
      }
      promised(shown.size === 1, `all servers show the same under ${handle}`, [...shown]);
    }
    this.#history.assertVersions();
  }
}

async function send(
  { url }: SpawnedFramehold,
  { handle, verb, n }: SharedWrite,
): Promise<{ readonly outcome: Outcome; readonly version: number | undefined }> {
  const mode = verb === 'create' ? '' : `&${verb}=true`;
  const body = `n,i,text\n${rowsWritten(n)
    .map((row) => `${row.n},${row.i},${row.text}\n`)
    .join('')}`;
  try {
    const answer =
      verb === 'drop'
        ? await ask(`${url}/handles/${handle}`, { method: 'DELETE' })
        : await ask(`${url}/imp?name=${handle}&fmt=json&format=csv${mode}`, { method: 'POST', body });
    const { version, code } = JSON.parse(answer.text) as { version?: number; code?: string };
    if (answer.status < 300) return { outcome: 'acknowledged', version };
    return { outcome: uncertain.includes(code) ? 'unknown' : 'refused', version: undefined };
  } catch (error) {
    const isRefused = (error as { code?: string }).code === 'ECONNREFUSED';
    return { outcome: isRefused ? 'refused' : 'unknown', version: undefined };
  }
}
