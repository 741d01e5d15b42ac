import { setTimeout as delay } from 'node:timers/promises';
import { bearer } from '../../access/closed-servers.ts';
import { BrokenPromise } from '../../harness/scenario.ts';
import { Connection } from '../connection.ts';

const pauseMs = 40;
const coldFrames = 40;
const coldRows = 50_000;

interface Wait {
  readonly what: string;
  readonly ms: number;
}

/** Somebody of another tenant, who does a little of everything and notes how long each answer took. */
export class Victim implements Disposable {
  readonly #url: string;
  readonly #headers: { readonly authorization: string };
  readonly #connections: Connection[] = [];
  #waits: Wait[] = [];
  #failures: string[] = [];
  #isOver = false;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#headers = bearer(token);
  }

  static async start(url: string, token: string): Promise<Victim> {
    const victim = new Victim(url, token);
    await victim.#prepare();
    victim.#work = Promise.all([
      victim.#repeat('ping', (connection) => connection.ask('/ping')),
      victim.#repeat('hot page', (connection) => victim.#ask(connection, '/exec?handle=hot&fmt=json&limit=1000')),
      victim.#repeat('cold page', (connection, turn) => {
        const from = 1 + ((turn * 7919) % (coldRows - 20));
        const target = `/exec?handle=cold${turn % coldFrames}&fmt=json&limit=${from},${from + 10}`;
        return victim.#ask(connection, target);
      }),
      victim.#repeat('import', (connection, turn) =>
        victim.#ask(connection, '/imp?name=small&overwrite=true&fmt=json', {
          method: 'POST',
          body: `a,b\n${`${turn},text\n`.repeat(100)}`,
        }),
      ),
      victim.#repeat('statement', (connection, turn) =>
        victim.#ask(connection, '/sql', { method: 'POST', body: JSON.stringify({ sql: `select ${turn} as n` }) }),
      ),
      victim.#repeat('line', (connection, turn) =>
        victim.#ask(connection, '/write', { method: 'POST', body: `written,h=a x=${turn}\n` }),
      ),
      victim.#follow(),
    ]);
    return victim;
  }

  /** The waits by what was asked for, in milliseconds, since the last time. Throws where a request failed. */
  take(): ReadonlyMap<string, readonly number[]> {
    const [failure] = this.#failures;
    if (failure !== undefined) throw new BrokenPromise(`no request of another tenant fails: ${failure}`);
    const byName = new Map<string, number[]>();
    for (const { what, ms } of this.#waits) byName.set(what, [...(byName.get(what) ?? []), ms]);
    this.#waits = [];
    return byName;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  async #prepare(): Promise<void> {
    const connection = this.#connect();
    const rows = Array.from({ length: coldRows }, (_, n) => `${n},text ${n % 97},${n / 7}\n`).join('');
    for (const handle of ['hot', ...Array.from({ length: coldFrames }, (_, n) => `cold${n}`)]) {
      const put = { method: 'POST', body: `a,b,c\n${rows}` };
      const { status, text } = await this.#ask(connection, `/imp?name=${handle}&fmt=json`, put);
      if (status !== 200) throw new Error(text);
    }
    await this.#ask(connection, '/write', { method: 'POST', body: 'written,h=a x=0\n' });
  }

  #connect(): Connection {
    const connection = new Connection(this.#url);
    this.#connections.push(connection);
    return connection;
  }

  #ask(connection: Connection, target: string, options: Parameters<Connection['ask']>[1] = {}) {
    return connection.ask(target, { ...options, headers: this.#headers });
  }

  async #repeat(
    what: string,
    ask: (connection: Connection, turn: number) => ReturnType<Connection['ask']>,
  ): Promise<void> {
    const connection = this.#connect();
    for (let turn = 0; !this.#isOver; turn++) {
      await this.#note(what, () => ask(connection, turn));
      await delay(pauseMs);
    }
  }

  /** How long rows take from their acknowledgement to a follower: nothing where it has them before. */
  async #follow(): Promise<void> {
    const [reader, writer] = [this.#connect(), this.#connect()];
    const { headers } = await this.#ask(reader, '/handles/written/rows?from=0&fmt=json');
    let next = Number(headers['next-row']);
    for (let turn = 0; !this.#isOver; turn++) {
      const rows = this.#ask(reader, `/handles/written/rows?from=${next}&live=long-poll&wait=20s&fmt=json`);
      const line = await this.#ask(writer, '/write', { method: 'POST', body: `written,h=b x=${turn}\n` }).catch(() => ({
        status: 0,
        text: '',
      }));
      if (line.status !== 204) this.#fail('line', `${line.status} ${line.text}`);
      await this.#note('follower', async () => {
        const startedAt = performance.now();
        const answer = await rows;
        next = Number(answer.headers['next-row']);
        return { ...answer, ms: performance.now() - startedAt };
      });
      await delay(pauseMs);
    }
  }

  async #note(what: string, ask: () => ReturnType<Connection['ask']>): Promise<void> {
    try {
      const { status, text, ms } = await ask();
      if (status === 200 || status === 204) this.#waits.push({ what, ms });
      else this.#fail(what, `${status} ${text.slice(0, 300)}`);
    } catch (error) {
      this.#fail(what, String(error));
    }
  }

  #fail(what: string, why: string): void {
    if (!this.#isOver) this.#failures.push(`${what}: ${why}`);
  }
}
