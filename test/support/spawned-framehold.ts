import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface SpawnedFramehold extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly banner: string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface SpawnOptions {
  readonly dataDir: string;
  readonly flags?: readonly string[];
  /** A program to run ours under, such as strace with its arguments. */
  readonly under?: readonly string[];
}

/** The built program as a process of its own, on ports of the system's choice. */
export async function spawnFramehold({ dataDir, flags = [], under = [] }: SpawnOptions): Promise<SpawnedFramehold> {
  const [command = process.execPath, ...args] = [
    ...under,
    process.execPath,
    program,
    'server',
    '--data-dir',
    dataDir,
    '--http-bind-address',
    '127.0.0.1:0',
    '--grpc-host',
    '127.0.0.1',
    '--grpc-port',
    '0',
    ...flags,
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: dataDir },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const banner = await Promise.race([
    readBanner(child),
    exited.then(({ code, signal }) => {
      throw new Error(`the server ended with ${code ?? signal} before its banner: ${stderr}`);
    }),
  ]);
  const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(banner)?.[1];
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    banner,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    exited,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function readBanner(child: ChildProcess): Promise<string> {
  let banner = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) {
    banner += text;
    if (banner.includes('curl')) return banner;
  }
  throw new Error(`standard output ended before the banner: ${banner}`);
}
