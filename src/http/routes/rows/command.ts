import { AppError } from '../../../core/errors/app-error.ts';
import { type FrameName, parseFrameName } from '../../../core/names/frame-name.ts';
import { parseColumnList } from '../../exchange/column-list.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  choice,
  duration,
  flag,
  integer,
  invalidParameter,
  type Parameter,
  quoteNonFiniteText,
  readParameters,
  text,
  withDefault,
} from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { TableFormat } from '../../table/table.ts';

export interface RowsCommand {
  readonly handle: FrameName;
  readonly from: number | 'end';
  /** Undefined: only present rows. */
  readonly live: 'long-poll' | 'sse' | undefined;
  readonly waitMs: number;
  /** For a response, or for an event. */
  readonly mostRows: number;
  readonly lineage: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly where: string | undefined;
  readonly format: TableFormat;
}

const formats = ['ndjson', 'json', 'arrow', 'csv', 'tsv'] as const;
const defaultRows = 10_000;
const defaultEventRows = 1000;
const mostRows = 1_000_000;
const defaultWaitMs = 30_000;
const mostWaitMs = 600_000;

const firstRow: Parameter<number | 'end' | undefined> = {
  description: 'The number of the first row, from 0; `end`: only rows that come from now on.',
  schema: { oneOf: [{ type: 'integer', minimum: 0 }, { const: 'end' }], default: 0 },
  parse(value, name) {
    if (value === undefined || value === 'end') return value;
    if (/^\d{1,16}$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER) return Number(value);
    throw invalidParameter(name, value, 'it is the number of a row, from 0, or end');
  },
};

export const rowsParameters = {
  from: firstRow,
  live: choice(
    ['long-poll', 'sse'],
    'Wait for rows: `long-poll` answers with the next ones, `sse` with events that do not end. Without it, only rows that are there.',
  ),
  fmt: withDefault<(typeof formats)[number]>(
    choice(formats, 'What the rows are written as; `arrow`, `csv` and `tsv` not as events.'),
    'ndjson',
  ),
  wait: duration(
    { minMs: 0, maxMs: mostWaitMs },
    'How long `long-poll` waits for a row before it answers 204: at most 10m. Default 30s.',
  ),
  limit: integer(
    { min: 1, max: mostRows },
    `How many rows at most in a response (default ${defaultRows}), or in an event (default ${defaultEventRows}); never more than \`http.max_limit\`.`,
  ),
  columns: text('Which columns, in this order: names with commas between them, in double quotes where they need them.'),
  where: text(
    "Only rows for which it holds: a predicate of SQL over the columns of the frame, such as `symbol = 'A' and price > 10`. `limit` counts the rows that are looked at.",
  ),
  lineage: text('That of an answer before: a frame that was replaced since is answered 410.'),
  nm: flag('Leave out the names: the first line of csv and tsv, `query` and `columns` of json.'),
  quoteLargeNum: flag('Every LONG of json as a string, for parsers that round at 2^53.'),
  quoteNonFinite: flag(`Of json and ndjson: ${quoteNonFiniteText}`),
} as const;

export function parseRows(
  { target, segments, requestHeaders }: Exchange,
  { maxLimit }: { readonly maxLimit: number | undefined },
): RowsCommand {
  const given = readParameters(rowsParameters, parseQueryString(target));
  const { live, fmt, limit } = given;
  if (live === 'sse' && fmt !== 'ndjson' && fmt !== 'json') {
    throw new AppError('unsupported_format', `events hold no ${fmt}`, {
      hint: 'use fmt=ndjson or fmt=json, or live=long-poll',
    });
  }
  const usualRows = live === 'sse' && given.where === undefined ? defaultEventRows : defaultRows;
  const resumed = live === 'sse' ? requestHeaders['last-event-id'] : undefined;
  return {
    handle: parseFrameName(segments[0] ?? ''),
    from: (typeof resumed === 'string' ? firstRow.parse(resumed, 'Last-Event-ID') : given.from) ?? 0,
    live,
    waitMs: given.wait ?? defaultWaitMs,
    mostRows: Math.min(limit ?? usualRows, maxLimit ?? Infinity),
    lineage: given.lineage,
    where: given.where,
    columns: given.columns === undefined ? undefined : parseColumnList(given.columns, 'columns'),
    format: {
      fmt,
      delimiter: ',',
      hasNames: !given.nm,
      escapesFormulas: false,
      quoteLargeNum: given.quoteLargeNum,
      quoteNonFinite: given.quoteNonFinite,
      compression: undefined,
      filename: undefined,
    },
  };
}
