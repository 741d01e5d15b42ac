import type { Batch, Column, DeclaredType } from '@framehold/columns';
import { AppError } from '../../../../core/errors/app-error.ts';
import { isKeptAsOther } from '../../../../core/rows/type-in-frame.ts';
import type { RecodeRows, SqlColumn } from '../../../../core/sql/sql.ts';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import { ResultEncoder } from './result-encoder.ts';

/** A batch is valid until the next one is read. */
export interface ResultRows extends AsyncDisposable {
  readonly columns: readonly SqlColumn[];
  batches(): AsyncIterable<Batch>;
}

/** Yields the columns of the results, then their rows in pieces, result after result; returns the number of rows. */
export async function* encodeResults(
  all: AsyncIterable<ResultRows>,
  job: RecodeRows,
  names?: readonly string[],
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  let encoder: ResultEncoder | undefined;
  let first: readonly Column[] | undefined;
  for await (const each of all) {
    await using result = each;
    if (first === undefined || encoder === undefined) {
      first = result.columns;
      encoder = new ResultEncoder(renamed(first, names), job);
      yield encoder.columns;
    } else assertSameTypes(first, result.columns);
    for await (const batch of result.batches()) {
      yield* encoder.encode(batch);
      if (encoder.hasEnough) break;
    }
  }
  const rest = encoder?.rest();
  if (rest !== undefined) yield rest;
  return encoder?.rows ?? 0;
}

function renamed(columns: readonly SqlColumn[], names: readonly string[] | undefined): readonly SqlColumn[] {
  return names === undefined
    ? columns
    : columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
}

/** The declared types of a frame that is made of the rows. */
export function withDeclared(result: ResultRows, types: readonly (DeclaredType | undefined)[]): ResultRows {
  const columns = result.columns.map((column, index) => {
    const declared = types[index];
    return declared !== undefined && isKeptAsOther(declared) ? { ...column, declared } : column;
  });
  return { columns, batches: () => result.batches(), [Symbol.asyncDispose]: () => result[Symbol.asyncDispose]() };
}

/** Parameters may change a result's types from one row to the next, and one stream has one schema. */
function assertSameTypes(first: readonly Column[], next: readonly Column[]): void {
  const same = JSON.stringify(first) === JSON.stringify(next);
  if (!same) throw new AppError('sql_error', 'the rows of parameters give results of different types');
}
