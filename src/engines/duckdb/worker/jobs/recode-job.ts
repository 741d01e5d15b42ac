import { AppError } from '../../../../core/app-error.ts';
import type { Column } from '../../../../core/data-type.ts';
import type { RecodeRows } from '../../../../core/sql.ts';
import { ArrowStream } from '../../../../encoding/arrow/read/columns/stream.ts';
import { toBatches } from '../../../../encoding/arrow/read/vectors/to-batches.ts';
import { toColumn } from '../../../../encoding/arrow/read/vectors/to-column.ts';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import { encodeResults, type ResultRows } from '../encode/encode-results.ts';

/**
 * The columns of an Arrow IPC stream that another engine sent, then its rows in pieces; returns how many rows it has.
 * A batch at a time: nothing of the stream is kept.
 */
export async function* recode(
  input: AsyncIterable<Uint8Array>,
  job: RecodeRows,
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  try {
    return yield* encodeResults(results(input), job);
  } catch (error) {
    const isAboutStream = error instanceof AppError && error.code === 'invalid_input';
    throw isAboutStream
      ? new AppError('engine_unreachable', `the engine’s rows cannot be read: ${error.message}`)
      : error;
  }
}

async function* results(input: AsyncIterable<Uint8Array>): AsyncGenerator<ResultRows, void, undefined> {
  await using stream = await ArrowStream.open(input);
  const columns = stream.fields.map(toColumn);
  yield { columns, batches: () => toBatches(stream, columns), [Symbol.asyncDispose]: async () => {} };
}
