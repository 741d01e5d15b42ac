import { Administration, type Tenant, type TenantChange } from '#client/administration.ts';
import { quoteValue } from '../../config/given-value.ts';
import { bytes, integer, type SettingContext, type SettingType } from '../../config/setting-type.ts';
import { UsageError } from '../../config/usage-error.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { runDirectoryCommand } from '../framework/directory-command.ts';
import type { Environment } from '../framework/environment.ts';
import type { Given } from '../framework/flag-table.ts';
import type { TenantRegistry } from '../framework/server-module.ts';
import { terminalTable } from '../terminal/terminal-table.ts';

type GivenTenant = Given<ClientTables['tenant']>;

/** `framehold tenant`: against a server, or the directory itself. */
export async function tenant(environment: Environment, given: GivenTenant): Promise<number> {
  const command = parseCommand(environment, given);
  return runDirectoryCommand(environment, given.flags, {
    ofServer: tenantsOfServer,
    ofDirectory: async (config) => (await environment.loadStorage(config)).openTenants(config),
    run: (tenants) => run(environment, tenants, command),
  });
}

type TenantCommand =
  | { readonly act: 'create' | 'set'; readonly name: string; readonly change: TenantChange }
  | { readonly act: 'ls'; readonly json: boolean }
  | { readonly act: 'rm'; readonly name: string };

function parseCommand(environment: Environment, { operands, flags }: GivenTenant): TenantCommand {
  const [act = '', name] = operands;
  switch (act) {
    case 'ls':
      if (name !== undefined) throw new UsageError(`tenant ls takes no ${quoteValue(name)}; it lists all tenants`);
      return { act, json: flags.json };
    case 'create':
    case 'set':
    case 'rm': {
      if (name === undefined) throw new UsageError(`tenant ${act} needs the NAME of a tenant`);
      if (act === 'rm') return { act, name };
      const change = parseChange(environment, flags);
      if (act === 'set' && Object.keys(change).length === 0) {
        throw new UsageError('tenant set needs something to change, such as --max-frames; --help lists the flags');
      }
      return { act, name, change };
    }
    default:
      throw new UsageError(`tenant ${quoteValue(act)} is not known; expected create, set, ls or rm`);
  }
}

const amount = integer({ min: 0, unit: '' });
const limits = {
  'max-frames': ['max_frames', amount],
  'max-bytes': ['max_bytes', bytes],
  'max-rate': ['max_rate', integer({ min: 1, unit: '' })],
  'max-statements': ['max_statements', amount],
} as const satisfies Record<string, readonly [keyof TenantChange, SettingType<number>]>;

function parseChange(environment: SettingContext, flags: GivenTenant['flags']): TenantChange {
  const change: Record<string, number | null | readonly string[]> = {};
  for (const flag of Object.keys(limits) as (keyof typeof limits)[]) {
    const given = flags[flag];
    const [key, type] = limits[flag];
    if (given !== undefined) change[key] = isNone(given) ? null : parseLimit(environment, `--${flag}`, given, type);
  }
  const { engines } = flags;
  if (engines !== undefined) {
    const names = isNone(engines) ? [] : engines.split(',').map((name) => name.trim());
    change.engines = names.filter((name) => name !== '');
  }
  return change;
}

function isNone(given: string): boolean {
  return given.trim() === '' || given.trim() === 'none';
}

function parseLimit(environment: SettingContext, flag: string, given: string, type: SettingType<number>): number {
  const value = type.parse(given.trim(), environment);
  if (value === undefined) {
    throw new UsageError(`${flag} is ${quoteValue(given)}; expected ${type.accepts}, or none`);
  }
  return value;
}

async function run(environment: Environment, tenants: TenantRegistry, command: TenantCommand): Promise<number> {
  const { stdout, stderr } = environment;
  switch (command.act) {
    case 'create':
    case 'set': {
      const { act, name, change } = command;
      await tenants[act](name, change);
      stderr.write(`${act === 'create' ? 'made' : 'changed'} ${name}\n`);
      return 0;
    }
    case 'ls':
      stdout.write(shown(environment, await tenants.list(), command.json));
      return 0;
    case 'rm':
      await tenants.remove(command.name);
      stderr.write(`removed ${command.name}\n`);
      return 0;
    default:
      return command satisfies never;
  }
}

function shown(environment: Environment, tenants: readonly Tenant[], json: boolean): string {
  if (json) return `[${tenants.map((each) => JSON.stringify(each)).join(',\n ')}]\n`;
  const rows = tenants.map(({ name, max_frames, max_bytes, max_rate, max_statements, engines }) => [
    name,
    ...[max_frames, max_bytes, max_rate, max_statements].map((limit) => (limit === null ? '' : String(limit))),
    engines === null ? '*' : engines.join(','),
  ]);
  if (!environment.stdoutIsTerminal) return rows.map((row) => `${row.join('\t')}\n`).join('');
  const columns = ['name', 'max frames', 'max bytes', 'max rate', 'max statements', 'engines'];
  return terminalTable(
    environment,
    columns.map((name) => ({ name, type: 'VARCHAR' })),
    rows,
  );
}

function tenantsOfServer(context: ClientContext): TenantRegistry {
  const server = new Administration(context.client);
  return {
    create: (name, change) => server.createTenant(name, change, context),
    set: (name, change) => server.setTenant(name, change, context),
    list: () => server.tenants(context),
    remove: (name) => server.removeTenant(name, context),
  };
}
