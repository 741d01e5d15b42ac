import type { Column } from '@framehold/columns';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { type FileFormatName, previewBytes } from '../../../core/rows/file-format.ts';
import type { FileFormat } from '../../../core/rows/frame-engine.ts';
import { execColumn } from '../../../encoding/rows/exec-column.ts';
import type { FilePreview, Frames } from '../../../frames/frames.ts';
import { heldColumns } from '../../exchange/held-columns.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import { importAnswerSchema, rejectionsOf } from './answer.ts';
import type { ImportCommand } from './command.ts';
import type { Upload } from './open-upload.ts';
import { checkOptions, fileFormat, headerOf, openFile, typesOf } from './store-upload.ts';
import { wholeObjects, wholeRecords } from './text-beginning.ts';
import { formatOf, namedFormat } from './upload-format.ts';
import { spool } from './upload-spool.ts';

const mostRows = 20;

interface PreviewContext {
  readonly principal: Principal;
  readonly frames: Pick<Frames, 'describe' | 'preview' | 'temporaryFile'>;
  readonly limits: Pick<BodyLimits, 'maxBodyBytes' | 'takeMemory' | 'lane'>;
  readonly signal: AbortSignal;
  readonly lane: string;
}

/** Reads the beginning of an upload as `storeUpload` would all of it, and keeps nothing. Gives the answer as JSON. */
export async function previewUpload(upload: Upload, command: ImportCommand, context: PreviewContext): Promise<string> {
  const { principal, frames, limits, signal, lane } = context;
  const named = namedFormat({
    asked: command.format,
    contentType: upload.contentType,
    names: [upload.fileName, command.handle],
  });
  const types = typesOf(upload, command);
  const reader = await openFile(upload, limits);
  try {
    const format = formatOf(named, reader.buffered);
    if (format === 'parquet' || format === 'arrow') throw hasOwnTypes(format);
    checkOptions(format, command, types);
    const isWhole = !(await reader.fill(previewBytes + 1));
    const text = isWhole ? reader.buffered : beginning(format, reader.buffered.subarray(0, previewBytes));
    await using file = await frames.temporaryFile(principal, lane);
    const { isPlainText } = await spool(file.counted(only(text)), file.path, limits.takeMemory);
    const hasHeader = command.hasHeader ?? headerOf(upload.contentType);
    const options = { ...command, hasHeader, isPlainText, skipsBadRows: true };
    const like = await columnsOf(command, context);
    const source = {
      kind: 'file',
      path: file.path,
      format: { ...fileFormat(format, options, types), ...(like !== undefined && { like }) } as FileFormat,
    } as const;
    const request = { source, form: 'exec-json-quoted-named', maxRows: mostRows } as const;
    return answer(await frames.preview(principal, request, { signal, lane }), format, isWhole);
  } finally {
    reader.release();
  }
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield bytes;
}

function hasOwnTypes(format: FileFormatName): AppError {
  return new AppError('invalid_parameter', `preview is given, but ${format} has types of its own`, {
    hint: 'leave it out; it is for CSV, TSV, JSON and NDJSON',
  });
}

function beginning(format: FileFormatName, bytes: Buffer): Buffer {
  const whole = format === 'json' || format === 'ndjson' ? wholeObjects(bytes) : wholeRecords(bytes);
  if (whole.length > 0) return whole;
  throw new AppError('too_large', `the first row of the file is longer than the ${previewBytes} bytes of a preview`, {
    hint: 'keep it without one',
  });
}

/** An append has the types of its frame, if that exists. */
async function columnsOf(
  { mode, handle }: ImportCommand,
  { principal, frames, signal }: PreviewContext,
): Promise<readonly Column[] | undefined> {
  if (mode !== 'append' || handle === undefined) return undefined;
  return await heldColumns(frames, principal, handle, { signal });
}

const { properties } = importAnswerSchema as { readonly properties: Readonly<Record<string, JsonSchema>> };

/** A sibling of the schema of an import: `preview` distinguishes the two. */
export const previewAnswerSchema: JsonSchema = {
  type: 'object',
  required: ['status', 'preview', 'format', 'complete', 'rows', 'columns', 'rowsRejected', 'rejections', 'dataset'],
  properties: {
    status: { const: 'OK' },
    preview: { const: true },
    format: { ...properties.format },
    header: { ...properties.header },
    delimiter: { ...properties.delimiter },
    complete: {
      type: 'boolean',
      description: 'Whether all of the body was read. Where not, later rows may change the types.',
    },
    rows: { type: 'integer', minimum: 0, description: 'That could be read.' },
    columns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'type'],
        properties: { name: { type: 'string' }, type: { type: 'string', description: 'As in an answer of /exec.' } },
      },
    },
    rowsRejected: { type: 'integer', minimum: 0, description: 'That could not be read.' },
    rejections: { ...properties.rejections },
    dataset: {
      type: 'array',
      description: `The first ${mostRows} rows, as /exec has them with quoteLargeNum=true and quoteNonFinite=true.`,
      items: { type: 'array' },
    },
  },
};

function answer({ columns, rows, firstRows, report }: FilePreview, format: FileFormatName, isWhole: boolean): string {
  const document = {
    status: 'OK',
    preview: true,
    format,
    ...(report?.hasHeader !== undefined && { header: report.hasHeader }),
    ...(report?.delimiter !== undefined && { delimiter: report.delimiter }),
    complete: isWhole,
    rows,
    columns: columns.map(execColumn),
    rowsRejected: report?.rejectedRows ?? 0,
    rejections: rejectionsOf(report),
  };
  const dataset = Buffer.concat(firstRows.map(({ bytes }) => bytes)).toString();
  // Each row ends with a comma.
  return `${JSON.stringify(document).slice(0, -1)},"dataset":[${dataset.slice(0, -1)}]}`;
}
