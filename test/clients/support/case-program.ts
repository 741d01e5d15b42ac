import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What a case program writes: first the names of its cases, then an answer to each name that it reads. */
type Line =
  | { readonly cases: readonly string[] }
  | { readonly name: string; readonly ok: boolean; readonly error?: string };

interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly lines: AsyncIterator<string>;
  stderr: string;
}

/** A program of another language that runs a case at a time, started once for many. */
export class CaseProgram implements AsyncDisposable {
  readonly #command: readonly string[];
  readonly #names: readonly string[];
  #running: Running | undefined;

  constructor(command: readonly string[], names: readonly string[]) {
    this.#command = command;
    this.#names = names;
  }

  /** Rejects with what the program says of the failed case. One that dies is started again for the next case. */
  async run(name: string): Promise<void> {
    this.#running ??= await this.#start();
    this.#running.child.stdin.write(`${name}\n`);
    const answer = await this.#read(this.#running, name);
    if (!('ok' in answer) || answer.name !== name) throw new Error(`out of step: ${JSON.stringify(answer)}`);
    if (!answer.ok) throw new CaseFailure(answer.error ?? 'no reason given');
  }

  async #start(): Promise<Running> {
    const [command = '', ...args] = this.#command;
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const running: Running = { child, lines, stderr: '' };
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      running.stderr = `${running.stderr}${text}`.slice(-20_000);
    });
    const first = await this.#read(running, 'it told its cases');
    // Else a case could be written and never run.
    if (!('cases' in first) || [...first.cases].sort().join('\n') !== [...this.#names].sort().join('\n')) {
      child.kill('SIGKILL');
      throw new Error(`the program has other cases than its source: ${JSON.stringify(first)}`);
    }
    return running;
  }

  async #read(running: Running, during: string): Promise<Line> {
    const { value, done } = await running.lines.next();
    if (!done) return JSON.parse(value) as Line;
    this.#running = undefined;
    const { child } = running;
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await once(child, 'close');
    throw new CaseFailure(`the program ended with ${child.exitCode ?? child.signalCode}: ${during}\n${running.stderr}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#running?.child;
    if (child === undefined) return;
    this.#running = undefined;
    child.stdin.end();
    const deadline = setTimeout(() => child.kill('SIGKILL'), 5000);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    clearTimeout(deadline);
  }
}

/** Its place in our own code tells nothing. */
class CaseFailure extends Error {
  constructor(message: string) {
    super(message);
    this.stack = message;
  }
}
