import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { UsageError } from '../../config/usage-error.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { printable } from './command-failure.ts';
import type { DirectoryTables } from './command-tables.ts';
import type { Environment } from './environment.ts';
import type { GivenFlags } from './flag-table.ts';
import type { StorageFault } from './server-module.ts';

type DirectoryFlags = GivenFlags<DirectoryTables['restore']['flags']>;

/** The settings of a command that works on a data directory. */
export function directoryConfig(
  environment: Environment,
  flags: DirectoryFlags,
): { readonly config: Config; readonly logger: Logger } {
  for (const [name, value] of Object.entries(flags)) assertGiven(`--${name}`, value);
  const argv = (['data-dir', 'parquet-path', 'duckdb-path', 'config'] as const).flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name}=${flags[name]}`],
  );
  const { config } = loadConfig({ ...environment, argv });
  return { config, logger: directoryLogger(environment, config) };
}

/** A variable of a shell that is not set is an empty text. */
export function assertGiven(name: string, value: string | undefined): void {
  if (value === '') throw new UsageError(`${name} is empty; name a folder`);
}

export function directoryLogger(environment: Environment, { logging }: Config): Logger {
  const { filter, format } = logging;
  return createLogger({ stream: environment.stderr, filter, format, colour: environment.stderrIsTerminal });
}

/** Runs `task` until a signal stops it. Its error becomes a line on standard error. */
export async function untilStopped(
  environment: Environment,
  stopped: string,
  task: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const abort = new AbortController();
  environment.onStopSignal(() => abort.abort());
  try {
    return await task(abort.signal);
  } catch (error) {
    environment.stderr.write(`framehold: ${abort.signal.aborted ? stopped : reasonOf(error)}\n`);
    return 1;
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // The system's message about a file, with its path.
  if (!(error instanceof AppError) && code !== undefined && message.startsWith(`${code}: `)) return printable(message);
  if (!(error instanceof AppError)) throw error;
  return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
}

export function shownFrame({ tenant, handle }: { readonly tenant: string; readonly handle: string }): string {
  return tenant === 'default' ? handle : `${tenant}/${handle}`;
}

/** `damaged  trades: its bytes …` */
export function faultLine({ frame, reason }: StorageFault, state = 'damaged'): string {
  return printable(`${state}  ${frame === undefined ? '' : `${shownFrame(frame)}: `}${reason}`);
}
