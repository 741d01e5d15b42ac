import { arrowIpcStream } from '@framehold/arrow-ipc';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import type { ArrowRecoder, SqlResult, SqlRun } from '../../core/sql/sql.ts';
import { endingWith } from '../../core/sql/sql-result.ts';
import { PassthroughResult } from './passthrough-result.ts';
import type { QueryBatches } from './query-batches.ts';
import type { BatchMessage } from './result-batches.ts';

/** The batches of a query in the form that its caller requested. */
export async function resultOf(
  batches: QueryBatches,
  run: SqlRun,
  recoder: ArrowRecoder,
  options: JobOptions,
): Promise<SqlResult> {
  if (batches.head.isPassedOn) return new PassthroughResult(batches);
  try {
    const result = await recoded(arrowIpcStream(batches.head.schema, messagesOf(batches)), run, recoder, options);
    return endingWith(result, () => batches.end());
  } catch (thrown) {
    await batches.end();
    throw thrown;
  }
}

export async function recoded(
  stream: AsyncIterable<Uint8Array>,
  { form, fromRow, toRow, columns, countAll, isKept }: SqlRun,
  recoder: ArrowRecoder,
  options: JobOptions,
): Promise<SqlResult> {
  return await recoder.recode(stream, { form, fromRow, toRow, columns, countAll, isKept }, options);
}

async function* messagesOf(batches: QueryBatches): AsyncGenerator<BatchMessage> {
  for await (const { messages } of batches) yield* messages;
}
