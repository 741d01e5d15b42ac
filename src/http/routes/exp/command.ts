import { AppError } from '../../../core/errors/app-error.ts';
import { tsdbEngineName } from '../../../core/names/engine-names.ts';
import { type FrameName, parseFrameName } from '../../../core/names/frame-name.ts';
import { fileFormats } from '../../../core/rows/file-format.ts';
import type { Compression } from '../../../core/rows/frame-engine.ts';
import type { TsdbRequest } from '../../../core/sql/tsdb.ts';
import { parseColumnList } from '../../exchange/column-list.ts';
import {
  choice,
  delimiter,
  flag,
  frameName,
  ignored,
  integer,
  invalidParameter,
  type Parameter,
  quoteNonFiniteText,
  readParameters,
  text,
  type Values,
  withDefault,
} from '../../exchange/parameters.ts';
import { engineParameter, type RequestedEngine, requestedEngine } from '../../exchange/requested-engine.ts';
import { invalidLimit, type RowRange, wholeNumber } from '../../exchange/row-limit.ts';
import type { TableFormat } from '../../table/table.ts';
import { assertOneMode } from '../exec/command.ts';

/** Rows of a frame or of a statement, as a file. */
export interface ExportTable {
  readonly range: RowRange;
  readonly columns: readonly string[] | undefined;
  readonly format: TableFormat;
  readonly timeoutMs: number | undefined;
}

export interface ExportedQuery {
  readonly query: string;
  /** JSON, as POST /sql takes it. */
  readonly params: string | undefined;
}

export type ExportFrame = ExportTable & { readonly handle: FrameName };

export type ExpCommand =
  | (ExportFrame & { readonly mode: 'handle' })
  | (ExportTable & RequestedEngine & ExportedQuery & { readonly mode: 'sql' })
  | {
      readonly mode: 'proxy';
      readonly query: string;
      readonly parameters: TsdbRequest['parameters'];
      readonly timeoutMs: number | undefined;
    };

export interface ExpDefaults {
  /** Engine of a `query` without `engine`. */
  readonly defaultEngine: string;
}

const codecs = ['zstd', 'snappy', 'gzip', 'brotli', 'lz4', 'lz4_raw', 'uncompressed'] as const;
const highestLevel = 22;
const longestTimeout = 86_400;

/** Which rows and columns, and how they are written. */
const tableParameters = {
  limit: text(
    "Which rows: `N`, the first N; `lo,hi`, those after the first lo up to row hi, as QuestDB's /exp has it, and unlike /exec; `lo,`, to the end. Without it, all.",
  ),
  cols: text('Which columns, in this order: names with commas between them, in double quotes where they need them.'),
  nm: flag('Leave out the names: the first line of csv and tsv, `query` and `columns` of json.'),
  delimiter: withDefault(delimiter('The character between the fields of csv.'), ','),
  filename: text('The name under which a browser saves it. Without it, that of the frame.'),
  compression_codec: choice(codecs, 'How parquet is compressed. Without it, a whole frame keeps its own.'),
  compression_level: integer({ min: 1, max: highestLevel }, 'The level of zstd.'),
  quoteLargeNum: flag('Every LONG of json as a string, for parsers that round at 2^53.'),
  quoteNonFinite: flag(`Of json and ndjson: ${quoteNonFiniteText}`),
  escapeFormulas: flag(
    'An apostrophe before text that a spreadsheet would take for a formula (= + - @, tab, line break), in csv and tsv. The data are then no longer exact.',
  ),
  timeout: integer({ min: 1, max: longestTimeout }, 'Seconds within which all of it must be sent.'),
} as const;

export const expParameters = {
  handle: frameName('The frame to export.'),
  query: text('The statement whose rows to export.'),
  params: text(
    'Of a statement on this server: the values of its parameters, as JSON, as `params` of `POST /sql`: `[1,"two"]` or `{"day":"2026-01-31"}`.',
  ),
  engine: engineParameter(undefined),
  fmt: withDefault(tableFormat('What the rows are written as.'), 'csv'),
  ...tableParameters,
  count: ignored('Whether to count the rows.'),
  rmode: ignored('When the answer begins.'),
  row_group_size: ignored('Rows in a row group.'),
  data_page_size: ignored('Bytes of a page.'),
  statistics_enabled: ignored('Whether parquet has statistics; it does.'),
  parquet_version: ignored('The version of parquet.'),
  raw_array_encoding: ignored('How arrays are written.'),
  bloom_filter_columns: ignored('Columns with a Bloom filter.'),
  bloom_filter_fpp: ignored('How often a Bloom filter is wrong.'),
  src: ignored('Who asks.'),
  ticket: wellFormedTicket('That of `POST /tickets`: stands for the credentials of the caller who asked for it.'),
} as const;

export const frameFileSegments = {
  owner: text('The tenant that shares the frame.'),
  handle: frameName('The handle of the frame. It may have dots of its own.'),
  format: tableFormat('What the rows are written as, as `fmt` of /exp has it.'),
};

export const frameFileParameters = tableParameters;

/** Parameters of Framehold's own. */
const ownParameters = new Set(['handle', 'params', 'engine', 'quoteLargeNum', 'quoteNonFinite', 'escapeFormulas']);

export function parseExp(given: ReadonlyMap<string, string>, defaults: ExpDefaults): ExpCommand {
  assertOneMode(given.get('handle'), given.get('query'));
  const values = readParameters(expParameters, given);
  const { handle, query = '', params, fmt } = values;
  const wanted = requestedEngine(values.engine, defaults);
  if (params !== undefined && (handle !== undefined || wanted.engine === tsdbEngineName)) {
    throw new AppError('invalid_parameter', 'params is given, and there is no statement of this server to take it');
  }
  if (handle !== undefined) return { mode: 'handle', handle, ...tableOf(values, fmt, handle) };
  if (wanted.engine === tsdbEngineName) {
    const parameters = [...given].filter(([name]) => !ownParameters.has(name));
    return { mode: 'proxy', query, parameters, timeoutMs: timeoutOf(values) };
  }
  return { mode: 'sql', query, params, ...wanted, ...tableOf(values, fmt, 'query') };
}

/** `segments`: the handle, behind the owner for a shared frame, and the format. */
export function parseFrameFile(segments: readonly string[], given: ReadonlyMap<string, string>): ExportFrame {
  const handle = parseFrameName(segments.slice(0, -1).join('/'));
  const fmt = parseTableFormat(segments.at(-1) ?? '');
  return { handle, ...tableOf(readParameters(frameFileParameters, given), fmt, handle) };
}

function tableOf(values: Values<typeof tableParameters>, fmt: TableFormat['fmt'], name: string): ExportTable {
  return {
    range: parseExportLimit(values.limit),
    columns: values.cols === undefined ? undefined : parseColumnList(values.cols),
    timeoutMs: timeoutOf(values),
    format: {
      fmt,
      delimiter: values.delimiter,
      hasNames: !values.nm,
      escapesFormulas: values.escapeFormulas,
      quoteLargeNum: values.quoteLargeNum,
      quoteNonFinite: values.quoteNonFinite,
      compression: compressionOf(values.compression_codec, values.compression_level),
      filename: values.filename ?? name,
    },
  };
}

function timeoutOf({ timeout }: { readonly timeout: number | undefined }): number | undefined {
  return timeout === undefined ? undefined : timeout * 1000;
}

/** The listener takes valid tickets, which never come here. */
function wellFormedTicket(description: string): Parameter<undefined> {
  return {
    description,
    schema: { type: 'string' },
    parse(value, name) {
      if (value === undefined) return;
      throw new AppError('invalid_parameter', `${name} is not valid`, { hint: 'it is what POST /tickets answers' });
    },
  };
}

function tableFormat(description: string): Parameter<TableFormat['fmt'] | undefined> {
  return {
    description,
    schema: { type: 'string', enum: fileFormats },
    parse: (value) => (value === undefined ? undefined : parseTableFormat(value)),
  };
}

function parseTableFormat(text: string): TableFormat['fmt'] {
  const found = fileFormats.find((each) => each === text.toLowerCase());
  if (found !== undefined) return found;
  throw new AppError('unsupported_format', `there is no export as ${JSON.stringify(text.slice(0, 100))}`, {
    hint: `use one of ${fileFormats.join(', ')}`,
  });
}

export function compressionOf(
  codec: (typeof codecs)[number] | undefined,
  level: number | undefined,
): Compression | undefined {
  if (codec === undefined && level === undefined) return undefined;
  const algorithm = codec === 'lz4_raw' ? 'lz4' : (codec ?? 'zstd');
  if (level !== undefined && algorithm !== 'zstd') {
    throw invalidParameter('compression_level', String(level), `${codec} has no levels; leave it out, or use zstd`);
  }
  return { algorithm, level };
}

/**
 * `N` = the first N rows; `lo,hi` = the rows after the first lo, up to row hi, as in QuestDB's /exp (and unlike its /exec); `lo,`
 * = to the end.
 */
function parseExportLimit(text: string | undefined): RowRange {
  if (text === undefined) return { from: 0, to: Infinity };
  const match = /^(\d+)(?:(,)(\d*))?$/.exec(text);
  if (match === null) {
    throw invalidLimit(text, 'a limit is a whole number such as 100, or a range such as 10,20 for rows 11 to 20');
  }
  const [, first = '', comma, last = ''] = match;
  const number = wholeNumber(first, text);
  const range =
    comma === undefined
      ? { from: 0, to: number }
      : { from: number, to: last === '' ? Infinity : wholeNumber(last, text) };
  if (range.to < range.from) throw invalidLimit(text, 'a range begins with the smaller number, such as 10,20');
  return range;
}
