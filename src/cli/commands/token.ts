import { Administration, type Token, type TokenRequest } from '#client/administration.ts';
import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';
import { parseDurationMs } from '../../core/text/duration.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { printable } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { runDirectoryCommand } from '../framework/directory-command.ts';
import type { Environment } from '../framework/environment.ts';
import type { Given } from '../framework/flag-table.ts';
import type { TokenRegistry } from '../framework/server-module.ts';
import { terminalTable } from '../terminal/terminal-table.ts';

type GivenToken = Given<ClientTables['token']>;

const defaultOverlap = '24h';

/** `framehold token`: against a server, or the directory itself. */
export async function token(environment: Environment, given: GivenToken): Promise<number> {
  const command = parseCommand(given);
  return runDirectoryCommand(environment, given.flags, {
    ofServer: tokensOfServer,
    ofDirectory: async (config) => (await environment.loadStorage(config)).openTokens(config),
    run: (tokens) => run(environment, tokens, command),
  });
}

type TokenCommand =
  | { readonly act: 'create'; readonly request: TokenRequest }
  | { readonly act: 'ls'; readonly json: boolean; readonly tenant: string | undefined }
  | { readonly act: 'revoke'; readonly id: string }
  | { readonly act: 'rotate'; readonly id: string; readonly overlap: string };

function parseCommand({ operands, flags }: GivenToken): TokenCommand {
  const [act = '', id] = operands;
  switch (act) {
    case 'create': {
      const { name, role, expires, prefix, tenant } = flags;
      if (name === undefined || role === undefined) throw new UsageError('token create needs --name and --role');
      if (id !== undefined) throw new UsageError(`token create takes no ${quoteValue(id)}; the server makes the ID`);
      if (role === 'operator' && tenant !== undefined) {
        throw new UsageError('--tenant and --role operator are given; an operator stands above all tenants');
      }
      if (expires !== undefined) checkDuration('--expires', expires);
      return { act, request: { name, role, expires, prefix, tenant } };
    }
    case 'ls':
      return { act, json: flags.json, tenant: flags.tenant };
    case 'revoke':
    case 'rotate':
      if (id === undefined) throw new UsageError(`token ${act} needs the ID of a token; token ls lists them`);
      if (act === 'revoke') return { act, id };
      if (flags.overlap !== undefined) checkDuration('--overlap', flags.overlap);
      return { act, id, overlap: flags.overlap ?? defaultOverlap };
    default:
      throw new UsageError(`token ${quoteValue(act)} is not known; expected create, ls, revoke or rotate`);
  }
}

function checkDuration(flag: string, text: string): void {
  try {
    parseDurationMs(text);
  } catch {
    throw new UsageError(`${flag} is ${quoteValue(text)}; expected a time such as 90d, 12h or 15m`);
  }
}

async function run(environment: Environment, tokens: TokenRegistry, command: TokenCommand): Promise<number> {
  const { stdout, stderr } = environment;
  switch (command.act) {
    case 'create':
      stdout.write(`${await tokens.create(command.request)}\n`);
      return 0;
    case 'ls': {
      const { tenant } = command;
      const listed = (await tokens.list()).filter((each) => tenant === undefined || each.tenant === tenant);
      stdout.write(shown(environment, listed, command.json));
      return 0;
    }
    case 'revoke':
      if (!(await tokens.revoke(command.id))) break;
      stderr.write(`revoked ${command.id}\n`);
      return 0;
    case 'rotate': {
      const made = await tokens.rotate(command.id, parseDurationMs(command.overlap));
      if (made === undefined) break;
      stdout.write(`${made}\n`);
      return 0;
    }
    default:
      command satisfies never;
  }
  stderr.write('framehold: there is no token of this ID; token ls lists them\n');
  return 1;
}

function shown(environment: Environment, tokens: readonly Token[], json: boolean): string {
  if (json) return `[${tokens.map((each) => JSON.stringify(each)).join(',\n ')}]\n`;
  const rows = tokens.map(({ id, name, tenant, role, prefix, created, expires, last_used: lastUsed }) => [
    id,
    printable(name),
    tenant ?? '',
    role,
    printable(prefix ?? ''),
    created,
    expires ?? '',
    lastUsed ?? '',
  ]);
  if (!environment.stdoutIsTerminal) return rows.map((row) => `${row.join('\t')}\n`).join('');
  const columns = ['id', 'name', 'tenant', 'role', 'prefix', 'created', 'expires', 'last used'];
  return terminalTable(
    environment,
    columns.map((name) => ({ name, type: 'VARCHAR' })),
    rows,
  );
}

/** The tokens of a server, which refuses requests with messages of its own. */
function tokensOfServer(context: ClientContext): TokenRegistry {
  const server = new Administration(context.client);
  return {
    create: (request) => server.createToken(request, context),
    list: () => server.tokens(context),
    revoke: async (id) => {
      await server.revokeToken(id, context);
      return true;
    },
    rotate: (id, overlapMs) => server.rotateToken(id, `${overlapMs}ms`, context),
  };
}
