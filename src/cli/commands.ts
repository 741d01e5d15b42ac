import type { Host } from './host.ts';

export interface Command {
  /** One line of `framehold --help`. */
  readonly summary: string;
  /** What follows the command's name. */
  readonly usage: string;
  /** Everything below usage and summary in `framehold <command> --help`. */
  details(): Promise<string>;
  /** Resolves with the exit code. A UsageError becomes its message and exit code 2. */
  run(host: Host, argv: readonly string[]): Promise<number>;
}

const settingsHelp = async () => (await import('./settings-help.ts')).settingsHelp();

/** Every command of the program. Their code is loaded when they run. */
export const commands: Readonly<Record<string, Command>> = {
  server: {
    summary: 'Serve frames over HTTP and gRPC until SIGINT or SIGTERM',
    usage: '[flags]',
    details: settingsHelp,
    run: async (host, argv) => (await import('./serve.ts')).serve(host, argv),
  },
  config: {
    summary: 'Print every setting, its value and where the value came from',
    usage: '[flags]',
    details: settingsHelp,
    run: async (host, argv) => (await import('./print-config.ts')).printConfig(host, argv),
  },
  verify: {
    summary: 'Check every frame of the data directory against its checksum; safe beside a running server',
    usage: '[flags]',
    details: settingsHelp,
    run: async (host, argv) => (await import('./verify.ts')).verify(host, argv),
  },
};
