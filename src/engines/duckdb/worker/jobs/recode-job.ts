import { ArrowStream, toBatches, toColumn } from '@framehold/arrow-ipc';
import { CodedError, type Column } from '@framehold/columns';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { RecodeRows } from '../../../../core/sql/sql.ts';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import { encodeResults, type ResultRows } from '../encode/encode-results.ts';

/**
 * Yields the columns of an Arrow IPC stream from another engine, then its rows in pieces; returns their number. Works a
 * batch at a time and keeps nothing of the stream.
 */
export async function* recode(
  input: AsyncIterable<Uint8Array>,
  job: RecodeRows,
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  try {
    return yield* encodeResults(results(input), job);
  } catch (error) {
    const isAboutStream = error instanceof CodedError && error.code === 'invalid_input';
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
