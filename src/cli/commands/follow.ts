import { only } from '@framehold/columns';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { columnList, wholeNumberFlag } from '../framework/flag-values.ts';
import { writeOutput } from '../terminal/output.ts';
import { terminalTable } from '../terminal/terminal-table.ts';
import { readResult } from './result-table.ts';

/** `framehold follow` */
export async function follow(
  context: ClientContext,
  { operands, flags }: Given<ClientTables['follow']>,
): Promise<number> {
  const { client, environment, signal } = context;
  const [handle = ''] = operands;
  const format = flags.format ?? (environment.stdoutIsTerminal ? 'table' : 'csv');
  const follower = client.follow(handle, {
    start: wholeNumberFlag('--from', flags.from) ?? 'end',
    columns: flags.columns === undefined ? undefined : columnList('--columns', flags.columns),
    where: flags.where,
    signal,
    onRetry: ({ message }, next) => {
      environment.stderr.write(`framehold: ${message}; goes on at row ${next} when it can\n`);
    },
  });
  let hasHead = false;
  for await (const { bytes } of follower.bytes(format === 'table' ? 'json' : format)) {
    // The reader may be gone: `head` has all its lines.
    if (environment.stdout.destroyed || environment.stdout.errored) break;
    if (bytes.length === 0) continue;
    await writeOutput(environment, undefined, only(format === 'table' ? tableOf(context, bytes, !hasHead) : bytes));
    hasHead = true;
  }
  return 0;
}

/** Only the first rows have a head. */
function tableOf({ environment }: ClientContext, json: Uint8Array, hasHead: boolean): Buffer {
  const { columns, rows } = readResult(Buffer.from(json).toString());
  const table = terminalTable(environment, columns, rows);
  return Buffer.from(hasHead ? table : table.split('\n').slice(2).join('\n'));
}
