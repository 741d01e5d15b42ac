import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pythonEnvironment, pythonPrograms } from './python.ts';

const askMs = 900_000;
const stopMs = 10_000;

/** A program of bench/clients: it stays while a case runs, and times inside, so that its start is not measured. */
export class PythonClient implements AsyncDisposable {
  readonly #program: string;
  readonly #child: ChildProcess;
  readonly #answers: Interface;
  readonly #killOnExit = (): void => void this.#child.kill('SIGKILL');
  #isClosed = false;

  /**
   * `program`: the name of its file, without ending. Its standard error goes to a log in the folder. `python`: the
   * interpreter, where it needs other packages than those of requirements.txt.
   */
  static async start(program: string, folder: string, python?: string): Promise<PythonClient> {
    const interpreter = python ?? join(await pythonPrograms(), 'python');
    return new PythonClient(program, interpreter, join(folder, `${program}.log`));
  }

  private constructor(program: string, python: string, logPath: string) {
    const path = fileURLToPath(new URL(`../clients/${program}.py`, import.meta.url));
    const log = openSync(logPath, 'a');
    this.#program = program;
    this.#child = spawn(python, [path], { env: pythonEnvironment(), stdio: ['pipe', 'pipe', log] });
    closeSync(log);
    process.on('exit', this.#killOnExit);
    this.#child.on('error', () => {});
    this.#child.stdin?.on('error', () => {});
    if (this.#child.stdout === null) throw new Error('no standard output');
    this.#answers = createInterface({ input: this.#child.stdout });
    this.#answers.once('close', () => {
      this.#isClosed = true;
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#program} could not be started`);
    return this.#child.pid;
  }

  /** One question at a time. The caller knows the type of the operation's answer. */
  async ask<T>(operation: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<T> {
    if (this.#isClosed) throw new Error(`the client ${this.#program} ended before "${operation}"`);
    const timeout = AbortSignal.timeout(askMs);
    this.#child.stdin?.write(`${JSON.stringify({ do: operation, ...parameters })}\n`);
    const ended = new AbortController();
    const signal = AbortSignal.any([timeout, ended.signal]);
    try {
      const [line] = (await Promise.race([
        once(this.#answers, 'line', { signal }),
        once(this.#answers, 'close', { signal }).then(() => {
          throw new Error(`the client ${this.#program} ended during "${operation}"`);
        }),
      ])) as [string];
      const answer = JSON.parse(line) as { readonly result: T } | { readonly error: string };
      if ('error' in answer) throw new Error(`${this.#program}, ${operation}: ${answer.error}`);
      return answer.result;
    } catch (error) {
      if (timeout.aborted) throw new Error(`no answer to "${operation}" of ${this.#program} in ${askMs / 1000} s`);
      throw error;
    } finally {
      ended.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#killOnExit);
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await exited;
    clearTimeout(timer);
  }
}
