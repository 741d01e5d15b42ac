import type { ClientContext } from './framework/client-command.ts';
import {
  type ClientTables,
  clientTables,
  completionTable,
  directoryTables,
  serverFlags,
  serverSummaries,
} from './framework/command-tables.ts';
import type { Environment } from './framework/environment.ts';
import { type CommandTable, type Given, type GivenFlags, parseArguments, tableHelp } from './framework/flag-table.ts';

export interface CliCommand {
  /** One line of `framehold --help`. */
  readonly summary: string;
  /** The arguments behind the command's name. */
  readonly usage: string;
  /** Everything below usage and summary in `framehold <command> --help`. */
  details(): Promise<string>;
  /** Resolves with the exit code. A UsageError becomes its message and exit code 2. */
  run(environment: Environment, argv: readonly string[]): Promise<number>;
}

/** Every command of the program. Their code is loaded when they run. */
export const commands: Readonly<Record<string, CliCommand>> = {
  server: ofSettings('server', async (environment, argv) =>
    (await import('./server/serve.ts')).serve(environment, argv),
  ),
  put: ofClient('put', async (context, given) => (await import('./commands/put.ts')).put(context, given)),
  get: ofClient('get', async (context, given) => (await import('./commands/get.ts')).get(context, given)),
  follow: ofClient('follow', async (context, given) => (await import('./commands/follow.ts')).follow(context, given)),
  ls: ofClient('ls', async (context, given) => (await import('./commands/ls.ts')).ls(context, given)),
  info: ofClient('info', async (context, given) => (await import('./commands/info.ts')).info(context, given)),
  rm: ofClient('rm', async (context, given) => (await import('./commands/rm.ts')).rm(context, given)),
  flush: ofClient('flush', async (context, given) => (await import('./commands/flush.ts')).flush(context, given)),
  sql: ofClient('sql', async (context, given) => (await import('./commands/sql.ts')).sql(context, given)),
  engines: ofClient('engines', async (context, given) =>
    (await import('./commands/engines.ts')).engines(context, given),
  ),
  queries: ofClient('queries', async (context, given) =>
    (await import('./commands/queries.ts')).queries(context, given),
  ),
  cancel: ofClient('cancel', async (context, given) => (await import('./commands/cancel.ts')).cancel(context, given)),
  token: ofTable('token', clientTables.token, async (environment, given) =>
    (await import('./commands/token.ts')).token(environment, given),
  ),
  tenant: ofTable('tenant', clientTables.tenant, async (environment, given) =>
    (await import('./commands/tenant.ts')).tenant(environment, given),
  ),
  share: ofClient('share', async (context, given) => (await import('./commands/share.ts')).share(context, given)),
  unshare: ofClient('unshare', async (context, given) => (await import('./commands/share.ts')).unshare(context, given)),
  whoami: ofClient('whoami', async (context, given) => (await import('./commands/whoami.ts')).whoami(context, given)),
  ping: ofClient('ping', async (context) => (await import('./commands/ping.ts')).ping(context)),
  config: ofSettings('config', async (environment, argv) =>
    (await import('./server/print-config.ts')).printConfig(environment, argv),
  ),
  doctor: ofSettings('doctor', async (environment, argv) =>
    (await import('./server/doctor.ts')).doctor(environment, argv),
  ),
  verify: ofSettings('verify', async (environment, argv) =>
    (await import('./server/verify.ts')).verify(environment, argv),
  ),
  backup: ofTable('backup', directoryTables.backup, async (environment, given) =>
    (await import('./server/backup.ts')).backup(environment, given),
  ),
  restore: ofTable('restore', directoryTables.restore, async (environment, given) =>
    (await import('./server/restore.ts')).restore(environment, given),
  ),
  completion: ofTable('completion', completionTable, async (environment, given) =>
    (await import('./completion.ts')).completion(environment, given),
  ),
};

function ofSettings(name: keyof typeof serverSummaries, run: CliCommand['run']): CliCommand {
  return {
    summary: serverSummaries[name],
    usage: '[flags]',
    details: async () => (await import('./server/settings-help.ts')).settingsHelp(serverFlags[name]),
    run,
  };
}

function ofTable<T extends CommandTable>(
  name: string,
  table: T,
  run: (environment: Environment, given: Given<T>) => Promise<number>,
): CliCommand {
  const { summary, operands, flags } = table;
  return {
    summary,
    usage: [operands.shown, ...(Object.keys(flags).length > 0 ? ['[flags]'] : [])].filter(Boolean).join(' '),
    details: async () => tableHelp(table),
    run: (environment, argv) => run(environment, parseArguments(name, table, argv)),
  };
}

function ofClient<Name extends keyof ClientTables>(
  name: Name,
  run: (context: ClientContext, given: Given<ClientTables[Name]>) => Promise<number>,
): CliCommand {
  const table: ClientTables[Name] = clientTables[name];
  return ofTable(name, table, async (environment, given) => {
    // Every one of these tables has them, which the compiler cannot see through the generic name.
    const flags = given.flags as GivenFlags<ClientTables['ping']['flags']>;
    const { runClientCommand } = await import('./framework/client-command.ts');
    return runClientCommand(environment, flags, (context) => run(context, given));
  });
}
