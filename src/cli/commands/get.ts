import { ConnectionError } from '#client/errors.ts';
import { arrowFile, arrowStream } from '#client/node/arrow-writer.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import { outputFormat } from '../framework/file-format.ts';
import type { Given } from '../framework/flag-table.ts';
import { columnList, wholeNumberFlag } from '../framework/flag-values.ts';
import { assertNotBinaryOnTerminal, isStandardOutput, type OutputPath, writeOutput } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

/** `framehold get` */
export async function get(context: ClientContext, { operands, flags }: Given<ClientTables['get']>): Promise<number> {
  const [handle = ''] = operands;
  const { output } = flags;
  const format = flags.format ?? (isStandardOutput(output) ? 'csv' : outputFormat(output));
  const limit = wholeNumberFlag('--limit', flags.limit);
  const selection = {
    rows: limit === undefined ? undefined : ([0, limit] as const),
    columns: flags.columns === undefined ? undefined : columnList('--columns', flags.columns),
    signal: context.signal,
  };
  assertNotBinaryOnTerminal(context.environment, output, format);
  context.undone(isStandardOutput(output) ? 'what was printed is not whole' : `${output} was not written`);
  try {
    if (format === 'arrow') {
      const messages = await context.client.arrowMessages(handle, selection);
      const bytes = isArrowFile(output) ? arrowFile(messages) : arrowStream(messages);
      await save(context, output, `get ${handle}`, bytes);
    } else {
      const body = await context.client.get(handle, selection).bytes(format);
      await save(context, output, `get ${handle}`, body, body.totalBytes);
    }
  } catch (error) {
    throw downloadFailure(error, output);
  }
  return 0;
}

/** `.arrow` and `.feather` are files; `.arrows`, and output into a pipe, are streams. */
export function isArrowFile(output: OutputPath): boolean {
  return !isStandardOutput(output) && !/\.arrows$/i.test(output);
}

export async function save(
  { environment }: ClientContext,
  output: OutputPath,
  label: string,
  bytes: AsyncIterable<Uint8Array>,
  totalBytes?: number,
): Promise<void> {
  // Text that scrolls by is progress enough.
  if (environment.stdoutIsTerminal && isStandardOutput(output)) return writeOutput(environment, output, bytes);
  using progress = new Progress(environment, label, totalBytes);
  await writeOutput(environment, output, progress.count(bytes));
}

export function downloadFailure(error: unknown, output: OutputPath): unknown {
  if (!(error instanceof ConnectionError) || error.code !== 'broken_connection') return error;
  const hint = isStandardOutput(output)
    ? 'what was printed is not whole; run the same command again'
    : 'nothing was written; run the same command again';
  return new ConnectionError('broken_connection', error.message, { hint });
}
