import type { Column } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import { type ParquetFacts, readParquetFooter } from '@framehold/parquet';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { PartFacts } from '../../../../core/rows/frame-engine.ts';
import { describeDataError, resourceError } from '../resource-error.ts';
import { isFreeOfNan } from './free-of-nan.ts';
import { refuseImpossible } from './impossible-footer.ts';
import { refuseDeepLists } from './list-depth.ts';
import { columnNamesKey } from './parquet-names.ts';
import { parquetRelation, queryReadable } from './parquet-relation.ts';
import { pruningOf } from './safe-pruning.ts';

/** What a Parquet file holds, from its footer alone but for NaN. */
export async function probe(
  connection: Connection,
  path: string,
  { looksForNan }: { readonly looksForNan: boolean },
): Promise<PartFacts> {
  return await explained(path, async () => {
    const footer = await refuseImpossible(path);
    const columns = await columnsOf(connection, path);
    const facts = footer ?? (await readParquetFooter(path));
    refuseWideDecimal(facts);
    return {
      rows: facts.rows,
      columns: withNames(columns, exactNames(facts)),
      uncompressedBytes: facts.uncompressedBytes,
      isMisread: pruningOf([{ path }]).misread.length > 0,
      ...(looksForNan && (await isFreeOfNan(connection, path)) && { isFreeOfNan: true }),
    };
  });
}

/** The columns of a Parquet file as DuckDB reads them, by the names that it was written with. */
export async function probeColumns(
  connection: Connection,
  path: string,
  names: readonly string[],
): Promise<readonly Column[]> {
  return await explained(path, async () => {
    return withNames(await columnsOf(connection, path), names);
  });
}

async function explained<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted || error.fatal) throw error;
    throw (
      resourceError(error) ??
      new AppError('invalid_input', `not readable as Parquet: ${describeDataError(error, path)}`, { cause: error })
    );
  }
}

async function columnsOf(connection: Connection, path: string): Promise<readonly Column[]> {
  await using result = await queryReadable(connection, `${parquetRelation([{ path }])} LIMIT 0`);
  refuseDeepLists(result.columns);
  return result.columns;
}

function withNames(columns: readonly Column[], names: readonly string[]): readonly Column[] {
  return columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
}

/** DuckDB has no decimals of more than 38 digits and reads them as DOUBLE, far off the mark. */
function refuseWideDecimal({ widestDecimal }: ParquetFacts): void {
  if (widestDecimal === undefined || widestDecimal.precision <= 38) return;
  const { name, precision } = widestDecimal;
  throw new AppError(
    'unsupported_type',
    `column ${JSON.stringify(name)} has decimals of ${precision} digits; 38 is the most`,
  );
}

/** Top-level column names as the file spells them: DuckDB renames what differs only in case. */
function exactNames({ notes, columns }: ParquetFacts): readonly string[] {
  const kept = notes.get(columnNamesKey);
  return kept === undefined ? columns.map(({ name }) => name) : (JSON.parse(kept) as string[]);
}
