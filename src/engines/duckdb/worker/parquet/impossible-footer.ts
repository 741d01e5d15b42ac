import { type ParquetFacts, readParquetFooter } from '@framehold/parquet';
import { AppError } from '../../../../core/errors/app-error.ts';

/**
 * Before DuckDB reads a file of strangers: it believes the footer, and reads the same bytes again for each chunk that is said to lie
 * there. Gives what the footer says; undefined where the file cannot be read, which is told by those who read it.
 */
export async function refuseImpossible(path: string): Promise<ParquetFacts | undefined> {
  try {
    return await readParquetFooter(path);
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new AppError('invalid_input', `the file cannot be read as Parquet: it is damaged: ${error.message}`, {
      hint: 'write the file anew',
      cause: error,
    });
  }
}
