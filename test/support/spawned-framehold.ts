import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { assertNoLongTurns } from './long-turns.ts';
import { childrenOf } from './process-facts.ts';
import { assertNoSecretCommands, assertNoSecretFiles, assertNoSecrets } from './secrets.ts';

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface SpawnedFramehold extends AsyncDisposable {
  readonly url: string;
  readonly grpcPort: number;
  /** Of our program, also where it runs under another one. */
  readonly pid: number;
  readonly banner: string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  hasExited(): boolean;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface SpawnOptions {
  readonly dataDir: string;
  /** Default: the shipped one. */
  readonly program?: string;
  /** Default: this Node with the program. */
  readonly command?: readonly string[];
  readonly flags?: readonly string[];
  /** Of HTTP. Default: one of the system's choice. */
  readonly port?: number;
  /** A program to run ours under, such as strace with its arguments. */
  readonly under?: readonly string[];
  /** Its event loop may be blocked: by answers of the operator's own services, or by a busy machine. Default: it may not. */
  readonly mayStandStill?: boolean;
  /** Added to its environment, which is otherwise all but empty. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Files are compressed again in the background, as by default, but at the level that takes the least time. */
const quicklyCompressed = ['--compression-level', '4'];

/** The built program, on ports of the system's choice, from its very beginning. */
export function beginFramehold({
  dataDir,
  program = built,
  command: ours = [process.execPath, program],
  flags = [],
  port = 0,
  under = [],
  env = {},
}: SpawnOptions): ChildProcessByStdio<null, Readable, Readable> {
  const [command = process.execPath, ...args] = [
    ...under,
    ...ours,
    'server',
    '--data-dir',
    dataDir,
    '--http-bind-address',
    `127.0.0.1:${port}`,
    '--grpc-host',
    '127.0.0.1',
    '--grpc-port',
    '0',
    ...(flags.some((flag) => flag.startsWith('--compression-')) ? [] : quicklyCompressed),
    ...flags,
  ];
  return spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: dataDir, ...env },
  });
}

/** The built program as a process of its own. Resolves when it serves. */
export async function spawnFramehold(options: SpawnOptions): Promise<SpawnedFramehold> {
  const child = beginFramehold(options);
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
  const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(banner)?.[0] ?? '';
  const grpcPort = /grpc(?:\+tls)?:\/\/127\.0\.0\.1:(\d+)/.exec(banner)?.[1];
  const childPid = child.pid as number;
  const pid = options.under === undefined ? childPid : (childrenOf(childPid)[0] ?? childPid);
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const kill = (signal: NodeJS.Signals): void => {
    // A program under a tracer would outlive it.
    if (!hasExited()) process.kill(pid, signal);
  };
  return {
    url,
    grpcPort: Number(grpcPort),
    pid,
    banner,
    stderr: () => stderr,
    kill,
    hasExited,
    exited,
    [Symbol.asyncDispose]: async () => {
      if (!hasExited()) assertNoSecretCommands(pid);
      kill('SIGKILL');
      await exited;
      assertNoSecrets('the log', stderr);
      assertNoSecrets('the banner', banner);
      assertNoSecretFiles(join(options.dataDir, 'cold'));
      if (options.mayStandStill !== true) assertNoLongTurns(stderr);
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
