import { availableParallelism } from 'node:os';
import { PassThrough } from 'node:stream';
import type { Environment } from '../../src/cli/framework/environment.ts';
import { run } from '../../src/cli/run.ts';
import { readIfExists } from '../../src/config/local-files.ts';
import { version } from '../../src/core/system/version.ts';
import { assertNoSecrets } from './secrets.ts';
import { type CommandOptions, type CommandResult, runCommand } from './spawned-command.ts';

/** What main.ts gives, without its process. */
export async function commandHere(
  argv: readonly string[],
  { cwd, env = {}, stdin = '' }: CommandOptions,
): Promise<CommandResult> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const pieces: Buffer[] = [];
  let stderr = '';
  output.on('data', (piece: Buffer) => pieces.push(piece));
  if (stdin !== null) input.end(stdin);
  const host: Environment = {
    version,
    pid: process.pid,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    homeDir: cwd,
    cwd,
    coreCount: availableParallelism(),
    stdin: () => input,
    stdout: output,
    stderr: {
      write: (text) => {
        stderr += text;
      },
    },
    stdinIsTerminal: false,
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    terminalWidth: () => 80,
    readFile: readIfExists,
    onStopSignal: () => {},
    onReloadSignal: () => {},
    onFatal: () => {},
    loadServer: () => import('../../src/server/start-server.ts'),
    loadStorage: () => import('../../src/server/storage.ts'),
    loadDoctor: () => import('../../src/server/doctor.ts'),
  };
  const status = await run(host, argv);
  input.destroy();
  assertNoSecrets('standard error', stderr);
  const stdoutBytes = Buffer.concat(pieces);
  return { status, stdout: stdoutBytes.toString(), stdoutBytes, stderr };
}

/**
 * Runs commands for a test file: the first of each name as a process of its own, from the built program; the others here, because
 * most of the time of a short command is the start of its process.
 */
export function commandsOf(defaults: () => CommandOptions = () => ({ cwd: '' })) {
  const started = new Set<string>();
  return (argv: readonly string[], options: Partial<CommandOptions> = {}): Promise<CommandResult> => {
    const [name = ''] = argv;
    const isFirst = !started.has(name);
    started.add(name);
    return (isFirst ? runCommand : commandHere)(argv, { ...defaults(), ...options });
  };
}
