import type { Engine } from '#client/operations.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { printable } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { terminalTable } from '../terminal/terminal-table.ts';

/** `framehold engines` */
export async function engines(context: ClientContext, { flags }: Given<ClientTables['engines']>): Promise<number> {
  const { environment } = context;
  const all = await context.client.engines(context);
  if (flags.json) environment.stdout.write(`[${all.map((engine) => JSON.stringify(engine)).join(',\n ')}]\n`);
  else if (environment.stdoutIsTerminal) environment.stdout.write(engineTable(context, all));
  else environment.stdout.write(all.map(tabbedLine).join(''));
  return 0;
}

export function engineTable({ environment }: ClientContext, all: readonly Engine[]): string {
  const columns = ['engine', 'kind', 'state', 'version', 'used for'].map((name) => ({ name, type: 'VARCHAR' }));
  const rows = all.map((engine) => [engine.name, engine.kind, stateOf(engine), engine.version, usesOf(engine)]);
  return terminalTable(environment, columns, rows);
}

function stateOf({ state, problem, unstopped }: Engine): string {
  if (unstopped !== undefined) return `${state}, ${unstopped} not stopped`;
  return problem === undefined ? state : `${state}: ${printable(problem)}`;
}

function usesOf({ default: isDefault, auto: isForLarge }: Engine): string {
  return [isDefault ? 'bare queries of /exec' : '', isForLarge ? 'large ones of auto' : ''].filter(Boolean).join(', ');
}

function tabbedLine({ name, kind, state, version, problem, default: isDefault, auto: isForLarge }: Engine): string {
  const marks = [isDefault ? 'default' : '', isForLarge ? 'auto' : ''].filter(Boolean).join(',');
  return `${[name, kind, state, version ?? '', marks, printable(problem ?? '')].join('\t')}\n`;
}
