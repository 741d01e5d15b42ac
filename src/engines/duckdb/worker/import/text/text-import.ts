import type { Batch, Column } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import type { TextType } from '../../../../../core/rows/frame-engine.ts';
import { isLoss } from '../../parquet/parquet-loss.ts';
import { expectedOf } from './text-columns.ts';
import { valueOfType } from './text-conversion.ts';
import { type TextKind, valueOfKind } from './text-kind.ts';
import { invalidRow, type Rejections } from './text-rejections.ts';
import { badValues, checkedRows, fittingRows, isMisfit, type TextColumn } from './text-relation.ts';
import { surveyedKinds } from './text-survey.ts';

/** A file of text for a frame. */
export interface TextImport {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly path: string;
  /** Path for a file during the import. */
  readonly scratchPath: string;
  /** Writes the rows; anew when it is called again. */
  readonly copy: (relation: { readonly sql: string; readonly names: readonly string[] }) => Promise<void>;
  /** Writes rows that need no DuckDB; anew when it is called again, or `copy` is. Undefined: only `copy` can write. */
  readonly writeBatches?: (columns: readonly Column[], batches: AsyncIterable<Batch>) => Promise<void>;
}

/** A file that DuckDB can read as rows of text. */
export interface TextFile {
  /** In SQL, as of now. */
  readonly relation: string;
  /** Makes the file fit to be read after an error of DuckDB's, or rejects. */
  mend(error: DuckDbError): Promise<void>;
  /** The lines of rows (from 0, ascending). */
  linesOf(rows: readonly number[]): Promise<number[]>;
}

export interface ImportColumn {
  readonly name: string;
  /** In SQL over the columns of the file. */
  readonly text: string;
  readonly type: /** Named by the caller: another value makes a bad row. */
    | { readonly given: TextType }
    /** The kind of the values seen so far. */
    | { readonly seen: TextKind | 'text' | undefined }
    /** The value in SQL, where all values are known to be of the type. */
    | { readonly value: string };
}

export interface TextSource {
  readonly file: TextFile;
  readonly columns: readonly ImportColumn[];
  readonly rejections: Rejections;
}

/** DuckDB compares expressions with each other, which takes minutes where they are many. */
const fewColumns = 500;

/**
 * Tries to write the rows with the types that were seen. Where a value does not fit, all values are looked at and the
 * rows written once more.
 */
export async function importTexts(job: TextImport, source: TextSource): Promise<void> {
  if (source.columns.length <= fewColumns) return await importInto(job, source);
  await job.connection.run("SET disabled_optimizers = 'common_subexpressions'");
  try {
    await importInto(job, source);
  } finally {
    await job.connection.run("SET disabled_optimizers = ''");
  }
}

async function importInto(job: TextImport, { file, columns, rejections }: TextSource): Promise<void> {
  const names = columns.map((column) => column.name);
  let typed = columns;
  let where = '';
  let stage: 'seen' | 'misfit' | 'surveyed' = 'seen';
  for (;;) {
    try {
      if (stage === 'misfit') {
        where = await leaveOutBadRows(job.connection, file, typed, rejections);
        typed = await surveyed(job.connection, file, typed, where);
        stage = 'surveyed';
      }
      await job.copy({ sql: checkedRows(textColumns(typed), file.relation, where), names });
      return;
    } catch (error) {
      if (!(error instanceof DuckDbError) || !error.isCallers || isLoss(error)) throw error;
      if (!isMisfit(error.message)) await file.mend(error);
      else if (stage === 'seen') stage = 'misfit';
      else throw error;
    }
  }
}

function textColumns(columns: readonly ImportColumn[]): TextColumn[] {
  const forSpeed = columns.length <= fewColumns;
  return columns.map(({ name, text, type }) => {
    if ('given' in type) return { name, text, value: valueOfType(type.given, text), expected: expectedOf(type.given) };
    if ('value' in type) return { name, text: type.value, value: type.value, expected: undefined };
    return { name, text, value: seenValue(type.seen, text, forSpeed), expected: undefined };
  });
}

function seenValue(seen: TextKind | 'text' | undefined, text: string, forSpeed: boolean): string {
  if (seen === undefined) return 'CAST(NULL AS VARCHAR)';
  return seen === 'text' ? text : valueOfKind(seen, text, forSpeed);
}

/** Refuses the first row that holds no value of a named type, or gives the condition that leaves such rows out. */
async function leaveOutBadRows(
  connection: Connection,
  file: TextFile,
  columns: readonly ImportColumn[],
  rejections: Rejections,
): Promise<string> {
  const typed = textColumns(columns);
  const { count, first } = await badValues(connection, typed, file.relation);
  if (count === 0) return '';
  const lines = await file.linesOf(first.map((value) => value.row));
  const told = first.map(({ column, text }, index) => ({
    line: lines[index] ?? 0,
    column: typed[column]?.name,
    reason: `${JSON.stringify(text)} is not of the type ${typed[column]?.expected}`,
  }));
  const [one] = told;
  if (!rejections.skips && one !== undefined) throw invalidRow(one);
  rejections.addCounted(count, told);
  return fittingRows(typed);
}

async function surveyed(
  connection: Connection,
  file: TextFile,
  columns: readonly ImportColumn[],
  where: string,
): Promise<ImportColumn[]> {
  const uncertain = columns.map(({ text, type }) => ({ text, kind: 'seen' in type ? type.seen : ('text' as const) }));
  const kinds = await surveyedKinds(connection, uncertain, file.relation, where);
  return columns.map((column, index) => ('seen' in column.type ? { ...column, type: { seen: kinds[index] } } : column));
}
