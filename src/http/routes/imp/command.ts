import { AppError } from '../../../core/errors/app-error.ts';
import type { FrameName } from '../../../core/names/frame-name.ts';
import { type FileFormatName, fileFormats } from '../../../core/rows/file-format.ts';
import {
  choice,
  delimiter,
  flag,
  frameName,
  ignored,
  invalidParameter,
  optionalFlag,
  type Parameter,
  readParameters,
  text,
  timeToLive,
} from '../../exchange/parameters.ts';
import { parseSchema, type TypesByColumn } from './schema.ts';

/** The parsed options of an upload. */
export interface ImportCommand {
  /** Undefined: the server makes one. */
  readonly handle: FrameName | undefined;
  readonly mode: 'create' | 'overwrite' | 'append';
  readonly ttlMs: number | null | undefined;
  readonly format: FileFormatName | undefined;
  readonly fmt: 'json' | 'text' | undefined;
  readonly delimiter: string | undefined;
  /** Undefined: found out. */
  readonly hasHeader: boolean | undefined;
  readonly skipsBadRows: boolean;
  readonly types: TypesByColumn | undefined;
  /** A column that must be there, and be a timestamp. */
  readonly timestamp: string | undefined;
  /** Only its beginning is read, and nothing stored. */
  readonly isPreview: boolean;
}

export const importParameters = {
  name: frameName('The handle. Default: the server makes one and tells it as `handle`.'),
  overwrite: flag('Replace the frame that is held under this handle.'),
  append: flag(
    'Add the rows to the frame that is held under this handle. They must have its columns; a CSV or JSON is read as its types.',
  ),
  ttl: timeToLive('Time to live: the frame goes when nobody has read it for so long. `none`: it stays.'),
  format: choice(
    fileFormats,
    'What the body is. Default: what Content-Type says, else the ending of the file name (of the part `data`, or of `name`), else the first bytes.',
  ),
  fmt: choice(
    ['json', 'text'],
    'The form of the answer. Default: `json`; for multipart/form-data `text`, the table of QuestDB.',
  ),
  delimiter: orEmpty(delimiter('What stands between the fields of a CSV. Default: found out.')),
  header: optionalFlag(
    'Whether the first line of a CSV holds the names of the columns. Default: what Content-Type says (`text/csv; header=absent`), else found out: names are text. Columns without a name are `column1` and so on.',
  ),
  forceHeader: flag('The same as `header=true`, for clients of QuestDB.'),
  skipLev: ignored('Whether lines with too many fields are left out; `atomicity` decides that.'),
  atomicity: atomicity(),
  schema: orEmpty(
    schema(
      'Types of columns of a CSV or JSON: a JSON array of `{"name","type","pattern"}` as QuestDB has it, or `name TYPE, name TYPE`. A pattern is in the letters of QuestDB (`dd/MM/yyyy HH:mm:ss`) or of strptime (`%d/%m/%Y`). Columns that are not named keep the type that is found out. May also be the part `schema` of a form.',
    ),
  ),
  timestamp: orEmpty(text('A column that must be there and be a timestamp, else nothing is kept.')),
  preview: flag(
    'Keep nothing: read the beginning of a CSV or JSON, of at most 256 KiB, and answer with its columns, its first rows and the rows that cannot be read.',
  ),
  partitionBy: ignored('Partitions.'),
  o3MaxLag: ignored('Rows out of order.'),
  maxUncommittedRows: ignored('How many rows are committed at once: here it is always all or none.'),
  create: ignored('Whether a table is made.'),
  durable: ignored('Whether the rows are on disk before the answer: here they always are.'),
} as const;

export function parseImport(given: ReadonlyMap<string, string>): ImportCommand {
  const values = readParameters(importParameters, given);
  if (values.append && values.overwrite) {
    throw new AppError('invalid_parameter', 'both append and overwrite are given', {
      hint: 'append=true adds to a frame, overwrite=true replaces it',
    });
  }
  return {
    handle: values.name,
    mode: values.append ? 'append' : values.overwrite ? 'overwrite' : 'create',
    ttlMs: values.ttl,
    format: values.format,
    fmt: values.fmt,
    delimiter: values.delimiter,
    hasHeader: values.forceHeader || values.header,
    skipsBadRows: values.atomicity === 'skipRow',
    types: values.schema,
    timestamp: values.timestamp,
    isPreview: values.preview,
  };
}

function atomicity(): Parameter<'abort' | 'skipRow'> {
  const choices = choice(
    ['abort', 'skipRow'],
    'What happens to a CSV or JSON with rows that cannot be read: `abort` refuses it, `skipRow` leaves them out and lists them as `rejections`.',
  );
  return {
    ...choices,
    schema: { ...choices.schema, default: 'abort' },
    parse(value, name) {
      if (value?.toLowerCase() !== 'skipcol') return choices.parse(value, name) ?? 'abort';
      throw invalidParameter(
        name,
        value,
        'it would lose values and keep their rows: abort refuses such a file, skipRow leaves the rows out',
      );
    },
  };
}

function schema(description: string): Parameter<TypesByColumn | undefined> {
  return {
    description,
    schema: { type: 'string', examples: ['ts TIMESTAMP, id VARCHAR', '[{"name":"ts","type":"TIMESTAMP"}]'] },
    parse: (value) => (value === undefined ? undefined : parseSchema(value)),
  };
}

/** Forms send fields that were left blank. */
function orEmpty<Value>(parameter: Parameter<Value>): Parameter<Value> {
  return { ...parameter, parse: (value, name) => parameter.parse(value === '' ? undefined : value, name) };
}
