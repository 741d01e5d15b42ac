import { ClientError } from '../../client/client-error.ts';
import type { NextRows, RowsRequest } from '../../client/server-api.ts';
import { sleep } from '../../core/async/limited-wait.ts';
import { only } from '../../core/async/only.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { columnList, wholeNumberFlag } from '../framework/flag-values.ts';
import { writeOutput } from '../terminal/output.ts';
import { terminalTable } from '../terminal/terminal-table.ts';
import { readResult } from './result-table.ts';

const firstRetryMs = 250;
const mostRetryMs = 5000;

/** `framehold follow` */
export async function follow(
  context: ClientContext,
  { operands, flags }: Given<ClientTables['follow']>,
): Promise<number> {
  const { environment } = context;
  const [handle = ''] = operands;
  const format = flags.format ?? (environment.stdoutIsTerminal ? 'table' : 'csv');
  let request: RowsRequest = {
    handle,
    from: wholeNumberFlag('--from', flags.from) ?? 'end',
    lineage: undefined,
    columns: flags.columns === undefined ? undefined : columnList('--columns', flags.columns),
    where: flags.where,
    format: format === 'table' ? 'json' : format,
    hasNames: true,
  };
  let hasHead = false;
  // Whoever reads may be gone: `head` has what it wanted.
  while (!environment.stdout.destroyed && !environment.stdout.errored) {
    const { bytes, next, lineage } = await nextRows(context, request);
    if (bytes.length > 0) {
      await writeOutput(environment, undefined, only(format === 'table' ? tableOf(context, bytes, !hasHead) : bytes));
      hasHead = true;
    }
    // A table needs the types of its columns each time.
    request = { ...request, from: next, lineage, hasNames: format === 'table' || !hasHead };
  }
  return 0;
}

/** Only the first rows have a head. */
function tableOf({ environment }: ClientContext, json: Buffer, hasHead: boolean): Buffer {
  const { columns, rows } = readResult(json.toString());
  const table = terminalTable(environment, columns, rows);
  return Buffer.from(hasHead ? table : table.split('\n').slice(2).join('\n'));
}

/** Tries again where the connection was lost, unless there never was one. */
async function nextRows({ client, environment, signal }: ClientContext, request: RowsRequest): Promise<NextRows> {
  for (let retryMs = firstRetryMs; ; retryMs = Math.min(2 * retryMs, mostRetryMs)) {
    try {
      return await client.nextRows(request, { signal });
    } catch (error) {
      if (request.lineage === undefined || !isPassing(error)) throw error;
      if (retryMs === firstRetryMs) {
        environment.stderr.write(`framehold: ${error.message}; goes on at row ${request.from} when it can\n`);
      }
      await sleep(retryMs, signal);
    }
  }
}

function isPassing(error: unknown): error is ClientError {
  return error instanceof ClientError && (error.outcome !== 'refused' || error.code === 'overloaded');
}
