import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assertNoSecrets } from './secrets.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Null: it is left open. */
  readonly stdin?: string | Uint8Array | null;
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
}

export interface SpawnedCommand {
  readonly child: ChildProcess;
  readonly result: Promise<CommandResult>;
}

/** The built program with these arguments, as a process of its own. Its home is where it runs. */
export function spawnCommand(argv: readonly string[], { cwd, env = {}, stdin = '' }: CommandOptions): SpawnedCommand {
  if (!existsSync(program)) throw new Error(`${program} is missing; run npm run build first`);
  const child = spawn(process.execPath, [program, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: 'pipe',
  });
  const pieces: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that refuses its input may exit before it has read everything.
  child.stdin.on('error', () => {});
  if (stdin !== null) child.stdin.end(stdin);
  const result = once(child, 'close').then(([status]) => {
    assertNoSecrets('standard error', stderr);
    const stdoutBytes = Buffer.concat(pieces);
    return { status: status as number | null, stdout: stdoutBytes.toString(), stdoutBytes, stderr };
  });
  return { child, result };
}

export function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return spawnCommand(argv, options).result;
}
