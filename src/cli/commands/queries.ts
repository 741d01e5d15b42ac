import type { RunningQuery } from '#client/operations.ts';
import { shownBytes, shownCount } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { printable } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { terminalTable } from '../terminal/terminal-table.ts';

/** `framehold queries` */
export async function queries(context: ClientContext, { flags }: Given<ClientTables['queries']>): Promise<number> {
  const { environment } = context;
  const all = await context.client.queries(context);
  if (flags.json) environment.stdout.write(`[${all.map((query) => JSON.stringify(query)).join(',\n ')}]\n`);
  else if (environment.stdoutIsTerminal) environment.stdout.write(queryTable(context, all));
  else environment.stdout.write(all.map((query) => `${fieldsOf(query).join('\t')}\n`).join(''));
  return 0;
}

function queryTable({ environment }: ClientContext, all: readonly RunningQuery[]): string {
  if (all.length === 0) return 'no statement is under way\n';
  const columns = ['id', 'engine', 'for', 'progress', 'statement'].map((name) => ({ name, type: 'VARCHAR' }));
  return terminalTable(environment, columns, all.map(fieldsOf));
}

function fieldsOf({ id, engine, elapsed_ms: elapsedMs, progress, sql }: RunningQuery): string[] {
  const shownProgress = progress === null ? '' : progressText(progress);
  return [id, engine, `${(elapsedMs / 1000).toFixed(1)} s`, shownProgress, printable(sql.replaceAll(/\s+/g, ' '))];
}

/** `3 of 8 tasks, 1.2 GB read` */
export function progressText({
  tasks,
  completed_tasks: completed,
  bytes_read: bytes,
}: NonNullable<RunningQuery['progress']>): string {
  const read = bytes === 0 ? '' : `, ${shownBytes(bytes)} read`;
  return `${completed} of ${shownCount(tasks, 'task')}${read}`;
}
