import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sqlString } from '@framehold/columns';
import type { DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { FileReport } from '../../../../../core/rows/frame-engine.ts';
import { makeFolder } from '../../../../../core/system/make-folder.ts';
import type { WireFileFormat } from '../../../protocol/protocol.ts';
import { checkTimeFormats, plannedColumns } from '../text/text-columns.ts';
import { importTexts, type TextFile, type TextImport } from '../text/text-import.ts';
import { Rejections } from '../text/text-rejections.ts';
import { type CsvDialect, csvDialect } from './csv-dialect.ts';
import { lineSizeOptions } from './csv-line-size.ts';
import { csvSample } from './csv-sample.ts';
import { linesOfRows, tidyCsv } from './csv-tidy.ts';
import { fastReader } from './fast/fast-csv.ts';
import type { PlannedField } from './fast/fast-field.ts';
import { NeedsFullReader } from './fast/line-blocks.ts';

/** Reads a CSV file. Its types are detected from its beginning and checked against all of it. */
export async function importCsv(
  job: TextImport,
  { kind: _, ...options }: Extract<WireFileFormat, { kind: 'csv' }>,
): Promise<FileReport> {
  const sample = await csvSample(job.path);
  const dialect = csvDialect(sample, options);
  const rejections = new Rejections(options.skipsBadRows);
  const columns = plannedColumns(dialect.names, dialect.hasHeader, options).map(({ name, index, type }) => ({
    name,
    index,
    text: `c${index}`,
    type: type === undefined ? { seen: dialect.kinds[index] } : { given: type },
  }));
  await checkTimeFormats(job.connection, options.types ?? []);
  const mayBeFast = options.isPlainText && !dialect.beginsWithLineEnds;
  if (!mayBeFast || !(await importFast(job, dialect, columns))) {
    await using file = new CsvFile(job, dialect, rejections);
    // DuckDB would read without a word NUL bytes, which most programs take for the end of a text, and leave out a last
    // line that is longer than its buffers.
    if (!mayBeFast) await file.tidy();
    await importTexts(job, { file, columns, rejections });
  }
  return { delimiter: dialect.delimiter, hasHeader: dialect.hasHeader, ...rejections.report };
}

/** Whether the file is so simple that DuckDB is not needed to read it. */
async function importFast(
  { path, signal, writeBatches }: TextImport,
  dialect: CsvDialect,
  columns: readonly PlannedField[],
): Promise<boolean> {
  const reader = fastReader(dialect, columns);
  if (reader === undefined || writeBatches === undefined) return false;
  try {
    await writeBatches(reader.columns, reader.batches(path, signal));
    return true;
  } catch (error) {
    if (error instanceof NeedsFullReader) return false;
    throw error;
  }
}

class CsvFile implements TextFile {
  readonly #job: TextImport;
  readonly #dialect: CsvDialect;
  readonly #rejections: Rejections;
  /** Once a tidy copy is read instead. */
  #longestRecord: number | undefined;
  #hasScratch = false;

  constructor(job: TextImport, dialect: CsvDialect, rejections: Rejections) {
    this.#job = job;
    this.#dialect = dialect;
    this.#rejections = rejections;
  }

  get relation(): string {
    const { delimiter, hasHeader, blankLines, names } = this.#dialect;
    const columns = names.map((_, index) => `c${index}: 'VARCHAR'`).join(', ');
    const longest = this.#longestRecord;
    const options = [
      sqlString(longest === undefined ? this.#job.path : this.#job.scratchPath),
      'auto_detect = false',
      `delim = ${sqlString(delimiter)}`,
      `quote = '"'`,
      `escape = '"'`,
      "nullstr = ''",
      'allow_quoted_nulls = false',
      `header = ${hasHeader}`,
      `skip = ${longest === undefined ? blankLines : 0}`,
      `columns = {${columns}}`,
      "compression = 'none'",
      ...(longest === undefined ? [] : ["new_line = '\\n'"]),
      ...lineSizeOptions(longest ?? 0),
    ];
    return `read_csv(${options.join(', ')})`;
  }

  /** DuckDB stops at the first fault with little information. Rows that it rejects are left out or refused here. */
  async mend(error: DuckDbError): Promise<void> {
    if (this.#longestRecord !== undefined) {
      throw new AppError('invalid_input', 'the file cannot be read as CSV', {
        hint: 'say which delimiter it has, or send it in another format',
        cause: error,
      });
    }
    await this.tidy();
  }

  async tidy(): Promise<void> {
    const { path, scratchPath, signal } = this.#job;
    await makeFolder(dirname(scratchPath));
    this.#hasScratch = true;
    this.#longestRecord = await tidyCsv(path, scratchPath, this.#dialect, this.#rejections, signal);
  }

  linesOf(rows: readonly number[]): Promise<number[]> {
    return linesOfRows(this.#job.path, this.#dialect, rows, this.#job.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasScratch) await rm(this.#job.scratchPath, { force: true });
  }
}
