import { PassThrough } from 'node:stream';
import type { Environment } from '../../src/cli/framework/environment.ts';
import { run } from '../../src/cli/run.ts';

export interface Terminal {
  /** The text on it: standard output and standard error, without cursor controls. */
  screen(): string;
  stderr(): string;
  type(text: string): void;
  readonly exitCode: Promise<number>;
}

export interface TerminalOptions {
  readonly homeDir: string;
  readonly width?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command in this process as on a terminal. */
export function onTerminal(argv: readonly string[], { homeDir, width = 80, env = {} }: TerminalOptions): Terminal {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let screen = '';
  let stderr = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  const host: Environment = {
    version: '1.2.3',
    pid: 1,
    env,
    homeDir,
    cwd: homeDir,
    coreCount: 2,
    stdin: () => stdin,
    stdout,
    stderr: {
      write: (text) => {
        screen += text;
        stderr += text;
      },
    },
    stdinIsTerminal: true,
    stdoutIsTerminal: true,
    stderrIsTerminal: true,
    terminalWidth: () => width,
    readFile: () => undefined,
    onStopSignal: () => {},
    onReloadSignal: () => {},
    onFatal: () => {},
    loadServer: () => Promise.reject(new Error('not asked for')),
    loadStorage: () => Promise.reject(new Error('not asked for')),
    loadDoctor: () => Promise.reject(new Error('not asked for')),
  };
  return {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what moves the cursor
    screen: () => screen.replaceAll(/\x1b\[\d*[A-HJK]|\r/g, ''),
    stderr: () => stderr,
    type: (text) => stdin.write(text),
    exitCode: run(host, argv),
  };
}
