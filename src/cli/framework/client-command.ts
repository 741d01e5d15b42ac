import { setTimeout as sleep } from 'node:timers/promises';
import { NodeConnection } from '#client/node/node-connection.ts';
import { tlsProblem } from '#client/node/tls.ts';
import { readClientSettings } from '../../config/client-settings.ts';
import { UsageError } from '../../config/usage-error.ts';
import { failureLine } from './command-failure.ts';
import type { Environment } from './environment.ts';

/** The context of a client command. */
export interface ClientContext {
  readonly environment: Environment;
  readonly client: NodeConnection;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** The work that a stop from now on leaves undone: `trades.csv was not put`. */
  undone(what: string): void;
}

export interface ServerFlags {
  readonly server: string | undefined;
  readonly config: string | undefined;
  readonly 'ca-file': string | undefined;
  readonly 'cert-file': string | undefined;
  readonly 'key-file': string | undefined;
  /** In which an operator acts. */
  readonly tenant?: string | undefined;
}

/** Time for a stopped command to clean up. */
const tidyMs = 2000;
/** As shells have it: 128 and the number of the signal. */
const exitCodes: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

const hints = {
  server: 'is the server running? "framehold server" starts one; --server or FRAMEHOLD_SERVER names another',
  address: 'check the address: --server or FRAMEHOLD_SERVER',
  advice: (hint: string) => hint.replace('atomicity=skipRow', '--skip-bad-rows'),
  authority: 'give its authority with --ca-file or client.ca_file',
  certificate: 'give yours with --cert-file and --key-file, or client.cert_file and client.key_file',
  refused: 'the server may not trust the certificate of --cert-file',
} as const;

const tlsNames = { ca: 'client.ca_file', cert: 'client.cert_file', key: 'client.key_file' } as const;

/** Runs a command against the server that flags, environment or config file name. Resolves with the exit code. */
export async function runClientCommand(
  environment: Environment,
  { tenant, server: url, config, 'ca-file': ca, 'cert-file': cert, 'key-file': key }: ServerFlags,
  command: (context: ClientContext) => Promise<number>,
): Promise<number> {
  const flags = { server: url, config, 'ca-file': ca, 'cert-file': cert, 'key-file': key };
  const argv = Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name}=${value}`);
  const { server, token, ...tls } = readClientSettings({ ...environment, argv });
  const problem = tlsProblem(tls, tlsNames);
  if (problem !== undefined) throw new UsageError(problem);
  const stop = new AbortController();
  let undone: string | undefined;
  let exitCode = 1;
  const stopped = new Promise<void>((resolve) => {
    environment.onStopSignal((signal) => {
      exitCode = exitCodes[signal] ?? 1;
      stop.abort();
      resolve();
    });
  });
  // The user sees why a command failed, and runs it again.
  const client = new NodeConnection(server, { token, tenant, tls, hints, retries: 0 });
  const context: ClientContext = {
    environment,
    client,
    signal: stop.signal,
    undone: (what) => {
      undone = what;
    },
  };
  try {
    const finished = command(context);
    await Promise.race([finished, stopped.then(() => sleep(tidyMs, undefined, { ref: false }))]);
    if (!stop.signal.aborted) return await finished;
  } catch (error) {
    if (!stop.signal.aborted) {
      const line = failureLine(error);
      if (line === undefined) throw error;
      environment.stderr.write(`framehold: ${line}\n`);
      return 1;
    }
  } finally {
    client.close();
  }
  environment.stderr.write(`framehold: stopped${undone === undefined ? '' : `; ${undone}`}\n`);
  return exitCode;
}
