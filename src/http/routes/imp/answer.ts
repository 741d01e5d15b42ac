import type { Column } from '@framehold/columns';
import { type FileFormatName, fileFormats } from '../../../core/rows/file-format.ts';
import type { FileReport } from '../../../core/rows/frame-engine.ts';
import { type ExecColumn, execColumn } from '../../../encoding/rows/exec-column.ts';
import type { PutResult } from '../../../frames/catalog/frame-summary.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';

export interface ImportAnswer {
  readonly status: 'OK';
  readonly location: string;
  readonly handle: string;
  readonly version: number;
  readonly rowsRejected: number;
  readonly rowsImported: number;
  /** Only where it is so. */
  readonly repeated?: true;
  readonly header: boolean;
  readonly partitionBy: 'NONE';
  readonly timestamp?: string;
  readonly format: FileFormatName;
  readonly delimiter?: string;
  readonly columns: readonly ImportedColumn[];
  readonly rejections: readonly { readonly line: number; readonly column: string | null; readonly reason: string }[];
  readonly bytes: number;
  readonly ms: number;
}

interface ImportedColumn extends ExecColumn {
  /** Bytes of a value; 0 where they vary. */
  readonly size: number;
  /** Among the rejections that are listed. */
  readonly errors: number;
}

interface Imported {
  readonly put: PutResult;
  readonly format: FileFormatName;
  readonly timestamp: string | undefined;
  readonly ms: number;
}

const int: JsonSchema = { type: 'integer', minimum: 0 };

export const importAnswerSchema: JsonSchema = {
  type: 'object',
  required: [
    'status',
    'location',
    'handle',
    'version',
    'rowsRejected',
    'rowsImported',
    'header',
    'columns',
    'bytes',
    'ms',
  ],
  properties: {
    status: { const: 'OK' },
    location: { type: 'string', description: 'The handle, by the name that QuestDB has for it.' },
    handle: { type: 'string' },
    version: { ...int, description: 'Of the frame.' },
    rowsRejected: { ...int, description: 'Left out, with atomicity=skipRow.' },
    rowsImported: int,
    repeated: { const: true, description: 'The append of this producer was seen before: no row was added again.' },
    header: { type: 'boolean', description: 'Whether the first line of a CSV was taken for the names of the columns.' },
    partitionBy: { const: 'NONE' },
    timestamp: { type: 'string', description: 'As asked for.' },
    format: { enum: fileFormats, description: 'What the body was.' },
    delimiter: { type: 'string', description: 'What stood between the fields of a CSV.' },
    columns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'type', 'size', 'errors'],
        properties: {
          name: { type: 'string' },
          type: { type: 'string', description: 'As in an answer of /exec.' },
          size: { ...int, description: 'Bytes of a value; 0 where they vary.' },
          errors: { ...int, description: 'Rejections of this column, among those that are listed.' },
        },
      },
    },
    rejections: {
      type: 'array',
      description: 'The first of the rows that were left out.',
      items: {
        type: 'object',
        required: ['line', 'column', 'reason'],
        properties: {
          line: { ...int, description: 'From 1, the header included.' },
          column: { type: ['string', 'null'] },
          reason: { type: 'string' },
        },
      },
    },
    bytes: { ...int, description: 'Of the frame, as stored.' },
    ms: { type: 'number', minimum: 0 },
  },
};

export function importAnswer({ put, format, timestamp, ms }: Imported): ImportAnswer {
  const { handle, version, rowsPut, isRepeated, bytes, columns, report } = put;
  const rejections = report?.rejections ?? [];
  const errorsOf = (name: string): number => rejections.filter(({ column }) => column === name).length;
  return {
    status: 'OK',
    location: handle,
    handle,
    version,
    rowsRejected: report?.rejectedRows ?? 0,
    rowsImported: rowsPut,
    ...(isRepeated && { repeated: true }),
    header: report?.hasHeader ?? false,
    partitionBy: 'NONE',
    ...(timestamp !== undefined && { timestamp }),
    format,
    ...(report?.delimiter !== undefined && { delimiter: report.delimiter }),
    columns: columns.map((column) => ({ ...execColumn(column), size: sizeOf(column), errors: errorsOf(column.name) })),
    rejections: rejectionsOf(report),
    bytes,
    ms: Math.round(ms),
  };
}

export function rejectionsOf(report: FileReport | undefined): ImportAnswer['rejections'] {
  return report?.rejections.map(({ line, column, reason }) => ({ line, column: column ?? null, reason })) ?? [];
}

function sizeOf({ type }: Column): number {
  switch (type.kind) {
    case 'boolean':
      return 1;
    case 'int':
    case 'float':
      return type.bits / 8;
    case 'date':
    case 'time':
    case 'timestamp':
      return 8;
    case 'uuid':
      return 16;
    default:
      return 0;
  }
}
