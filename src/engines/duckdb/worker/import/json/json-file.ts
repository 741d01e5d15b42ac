import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sqlString } from '@framehold/columns';
import type { DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { FileReport } from '../../../../../core/rows/frame-engine.ts';
import { makeFolder } from '../../../../../core/system/make-folder.ts';
import type { WireFileFormat } from '../../../protocol/protocol.ts';
import { lineSizeOptions } from '../csv/csv-line-size.ts';
import { checkTimeFormats, type PlannedColumn, plannedColumns } from '../text/text-columns.ts';
import { type ImportColumn, importTexts, type TextImport } from '../text/text-import.ts';
import { Rejections } from '../text/text-rejections.ts';
import { fieldSeparator, type JsonColumn, linesOfObjects, writeJsonRows } from './json-rows.ts';

/**
 * Reads a file of JSON objects. DuckDB's own reader rounds numbers that a DOUBLE does not keep and miscounts lines, so
 * the values are cut out here, as they stand, and DuckDB reads them as texts.
 */
export async function importJson(
  job: TextImport,
  { kind: _, ...options }: Extract<WireFileFormat, { kind: 'json' }>,
): Promise<FileReport> {
  await checkTimeFormats(job.connection, options.types ?? []);
  const rejections = new Rejections(options.skipsBadRows);
  const { path, scratchPath, signal } = job;
  await makeFolder(dirname(scratchPath));
  try {
    const { columns, rows, longestRow } = await writeJsonRows(path, scratchPath, rejections, signal);
    const planned = rows === 0 ? withoutRows(options.like ?? []) : plannedColumns(columns.map(nameOf), true, options);
    if (planned.length === 0) {
      throw new AppError('invalid_input', 'the file holds no values, so there are no columns', {
        hint: 'send objects with at least one key',
      });
    }
    const file = {
      relation: rowsRelation(scratchPath, columns.length, longestRow),
      mend(cause: DuckDbError): Promise<void> {
        return Promise.reject(new AppError('invalid_input', 'the file cannot be read as JSON', { cause }));
      },
      linesOf: (wanted: readonly number[]) => linesOfObjects(path, wanted, signal),
    };
    await importTexts(job, { file, columns: planned.map((one) => importColumn(one, columns[one.index])), rejections });
    return rejections.report;
  } finally {
    await rm(scratchPath, { force: true });
  }
}

const nameOf = ({ name }: JsonColumn): string => name;

/** No rows fit every frame. */
function withoutRows(like: NonNullable<Extract<WireFileFormat, { kind: 'json' }>['like']>): PlannedColumn[] {
  return like.map(({ name, type }, index) => ({ name, index, type: { type } }));
}

function rowsRelation(path: string, columns: number, longestRow: number): string {
  const names = ['mark', ...Array.from({ length: columns }, (_, index) => `c${index}`)];
  const options = [
    sqlString(path),
    'auto_detect = false',
    `delim = ${sqlString(fieldSeparator)}`,
    "quote = ''",
    "escape = ''",
    "nullstr = ''",
    'header = false',
    // Later keys are missing in the lines before.
    'null_padding = true',
    `columns = {${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`,
    "compression = 'none'",
    ...lineSizeOptions(longestRow),
  ];
  return `read_csv(${options.join(', ')})`;
}

function importColumn({ name, index, type }: PlannedColumn, column: JsonColumn | undefined): ImportColumn {
  const raw = column === undefined ? 'CAST(NULL AS VARCHAR)' : `c${index}`;
  const text = `CASE WHEN starts_with(${raw}, '"') THEN json_extract_string(${raw}, '$') ELSE ${raw} END`;
  if (type !== undefined) {
    return { name, text, type: type.type.kind === 'json' ? { value: `CAST(${raw} AS JSON)` } : { given: type } };
  }
  return { name, ...foundType(raw, column) };
}

function foundType(raw: string, column: JsonColumn | undefined): Pick<ImportColumn, 'text' | 'type'> {
  const found = column?.shape.type;
  switch (found?.kind) {
    case undefined:
    case 'digits':
      return { text: raw, type: { value: raw } };
    case 'boolean':
      return { text: raw, type: { value: `CAST(${raw} AS BOOLEAN)` } };
    case 'number':
      return { text: raw, type: { value: `CAST(${raw} AS ${found.looks})` } };
    case 'string':
      return { text: `json_extract_string(${raw}, '$')`, type: { seen: found.looks } };
    case 'nested':
      return { text: raw, type: { value: `CAST(CAST(${raw} AS JSON) AS ${found.sql})` } };
    case 'json':
      return { text: raw, type: { value: `CAST(${raw} AS JSON)` } };
    default:
      return found satisfies never;
  }
}
