import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** How clients must ask a server that is not open to all. */
export interface ClientOptions {
  /** Values of `Authorization`, taken in turn. */
  readonly credentials?: readonly string[] | undefined;
  /** The authority of its certificate, as PEM. Undefined: it does not speak TLS. */
  readonly ca?: string | undefined;
}

/** A server that runs as a process of its own. */
export interface HttpServer extends AsyncDisposable, ClientOptions {
  readonly host: string;
  readonly port: number;
  /** The root of its processes. */
  readonly pid: number;
}

/** A server of Arrow Flight, in a process of its own. */
export interface GrpcServer extends AsyncDisposable, ClientOptions {
  /** `grpc://host:port`, with TLS `grpc+tls://host:port` */
  readonly grpcUri: string;
  /** The root of its processes. */
  readonly pid: number;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Receives its standard error. */
  readonly logPath: string;
}

const stopMs = 15_000;

/** Starts a server of the benches' own, which prints the port that it listens on at 127.0.0.1. */
export async function startListening(command: ServerCommand, timeoutMs: number): Promise<HttpServer & GrpcServer> {
  const server = new ServerProcess(command);
  try {
    const port = Number(await server.printed(/listening on (\d+)/, timeoutMs));
    const host = '127.0.0.1';
    const grpcUri = `grpc://${host}:${port}`;
    return { host, port, grpcUri, pid: server.pid, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Ends with this process, however that ends. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #logPath: string;
  readonly #killOnExit = (): void => void this.#child.kill('SIGKILL');
  #stdout = '';

  constructor({ command, args, env = process.env, logPath }: ServerCommand) {
    const log = openSync(logPath, 'a');
    this.#child = spawn(command, args, { env, stdio: ['ignore', 'pipe', log] });
    closeSync(log);
    this.#logPath = logPath;
    process.on('exit', this.#killOnExit);
    this.#child.on('error', () => {});
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout = (this.#stdout + text).slice(-16_384);
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process could not be started');
    return this.#child.pid;
  }

  /** The first group of the pattern, once standard output matches it. */
  async printed(pattern: RegExp, timeoutMs: number): Promise<string> {
    return this.until(async () => pattern.exec(this.#stdout)?.[1], timeoutMs);
  }

  /** The first result of the attempt that is not undefined; attempts that reject are repeated. */
  async until<T>(attempt: () => Promise<T | undefined>, timeoutMs: number, everyMs = 10): Promise<T> {
    for (const start = Date.now(); Date.now() - start < timeoutMs; await delay(everyMs)) {
      const result = await attempt().catch(() => undefined);
      if (result !== undefined) return result;
      if (this.#ended) break;
    }
    const what = this.#ended ? 'ended while it started' : `was not ready within ${timeoutMs / 1000} s`;
    throw new Error(`${this.#child.spawnfile} ${what}:\n${this.#stdout}${this.#lastLogLines()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#killOnExit);
    if (this.#ended) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await exited;
    clearTimeout(timer);
  }

  get #ended(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #lastLogLines(): string {
    return readFileSync(this.#logPath, 'utf8').split('\n').slice(-20).join('\n');
  }
}
