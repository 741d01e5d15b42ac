import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface EngineCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Path of the file that what it prints goes to. */
  readonly log: string;
}

/** A server of someone else's that ends with the test, at the latest with this process, however that ends. */
export class EngineProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #watch: ChildProcess | undefined;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.#log = log;
    this.#watch = child.pid === undefined ? undefined : killWhenWeAreGone(child.pid);
  }

  static async start({ command, args, env, log }: EngineCommand): Promise<EngineProcess> {
    await using file = await open(log, 'a');
    // A group of its own, so that those which it starts end with it.
    const child = spawn(command, args, {
      stdio: ['ignore', file.fd, file.fd],
      detached: true,
      env: { ...process.env, ...env },
    });
    child.on('error', () => {});
    return new EngineProcess(child, log);
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`could not be started: ${this.#child.spawnfile}`);
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves when the answer is something. Rejects with the end of the log when it takes too long or the process ends. */
  async until<T>(what: string, withinMs: number, ask: () => Promise<T | undefined>): Promise<T> {
    for (const start = Date.now(); Date.now() - start < withinMs; await delay(50)) {
      if (this.hasEnded) throw new Error(`ended before ${what}:\n${await this.#lastLines()}`);
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined) return answer;
    }
    throw new Error(`not after ${withinMs} ms: ${what}\n${await this.#lastLines()}`);
  }

  async untilListening(port: number, withinMs: number): Promise<void> {
    await this.until(`it listened on port ${port}`, withinMs, () => canConnect(port));
  }

  /** Kills it and all that it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    const exited = this.hasEnded ? undefined : once(this.#child, 'exit');
    if (this.#child.pid !== undefined) killGroup(this.#child.pid);
    await exited;
    this.#watch?.kill('SIGKILL');
  }

  async #lastLines(): Promise<string> {
    return (await readFile(this.#log, 'utf8')).split('\n').slice(-20).join('\n');
  }
}

/** The end of our process closes the pipe to this one, also when nothing of ours could run any more. */
function killWhenWeAreGone(group: number): ChildProcess {
  const script = 'cat; kill -9 "-$0"';
  const watch = spawn('sh', ['-c', script, String(group)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watch.on('error', () => {});
  watch.unref();
  return watch;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // None of them is left.
  }
}

async function canConnect(port: number): Promise<true> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
