import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientTls, tlsProblem } from '../../client/client-tls.ts';
import { FrameholdClient } from '../../client/framehold-client.ts';
import type { Config } from '../../config/config.ts';
import { loadClientConfig } from '../../config/load-config.ts';
import { UsageError } from '../../config/usage-error.ts';
import { failureLine } from './command-failure.ts';
import type { Environment } from './environment.ts';

/** What a client command works with. */
export interface ClientContext {
  readonly environment: Environment;
  readonly client: FrameholdClient;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** What will not have been done if we are stopped from now on: `trades.csv was not put`. */
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

/** What a stopped command has to tidy up in. */
const tidyMs = 2000;
/** As shells have it: 128 and the number of the signal. */
const exitCodes: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

/** The token to show, from the environment or a file: never from the command line, which everybody on the machine sees. */
function readToken(environment: Environment, file: string | undefined): string | undefined {
  const token = environment.env.FRAMEHOLD_TOKEN?.trim() || undefined;
  if (token !== undefined || file === undefined) return token;
  const text = environment.readFile(file);
  if (text === undefined) throw new UsageError(`there is no token file ${file} (client.token_file)`);
  return text.trim();
}

function readTls(
  { readFile }: Environment,
  { caFile, certFile, keyFile }: Pick<Config['client'], 'caFile' | 'certFile' | 'keyFile'>,
): ClientTls {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [given, missing] = certFile === undefined ? ['key_file', 'cert_file'] : ['cert_file', 'key_file'];
    throw new UsageError(`client.${given} is set without client.${missing}; set both, or neither`);
  }
  const read = (key: string, path: string | undefined): string | undefined => {
    if (path === undefined) return undefined;
    const text = readFile(path);
    if (text === undefined) throw new UsageError(`there is no file ${path} (client.${key})`);
    return text;
  };
  const tls = { ca: read('ca_file', caFile), cert: read('cert_file', certFile), key: read('key_file', keyFile) };
  const problem = tlsProblem(tls);
  if (problem !== undefined) throw new UsageError(problem);
  return tls;
}

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
  const { server, tokenFile, ...files } = loadClientConfig({ ...environment, argv });
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
  const client = new FrameholdClient(server, {
    token: readToken(environment, tokenFile),
    tenant,
    tls: readTls(environment, files),
  });
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
