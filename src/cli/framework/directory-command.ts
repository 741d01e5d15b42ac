import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { UsageError } from '../../config/usage-error.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { type ClientContext, runClientCommand, type ServerFlags } from './client-command.ts';
import { assertGiven } from './directory-config.ts';
import type { Environment } from './environment.ts';

/** A command that works on the records of a data directory, through a server or without one. */
export interface DirectoryCommand<Records> {
  ofServer(context: ClientContext): Records;
  ofDirectory(config: Config): Promise<Records>;
  run(records: Records): Promise<number>;
}

/** Runs on the directory itself if `--data-dir` or `--parquet-path` names one, else on a server. Resolves with the exit code. */
export async function runDirectoryCommand<Records>(
  environment: Environment,
  flags: ServerFlags & { readonly 'data-dir': string | undefined; readonly 'parquet-path': string | undefined },
  command: DirectoryCommand<Records>,
): Promise<number> {
  const { server, config: file } = flags;
  const named = (['data-dir', 'parquet-path'] as const).filter((name) => flags[name] !== undefined);
  const [first] = named;
  if (first === undefined) {
    return runClientCommand(environment, flags, (context) => command.run(command.ofServer(context)));
  }
  if (server !== undefined) throw new UsageError(`--server and --${first} are given; give one of them`);
  for (const name of named) assertGiven(`--${name}`, flags[name]);
  const argv = [
    ...named.map((name) => `--${name}=${flags[name]}`),
    ...(file === undefined ? [] : [`--config=${file}`]),
  ];
  const { config } = loadConfig({ ...environment, argv });
  try {
    return await command.run(await command.ofDirectory(config));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    environment.stderr.write(`framehold: ${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}\n`);
    return 1;
  }
}
