import { type Producer, parseProducer, refuseProducer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { ChunkForm } from '../../../core/rows/frame-engine.ts';
import { execColumn } from '../../../encoding/rows/exec-column.ts';
import type { Frames } from '../../../frames/frames.ts';
import type {
  AnalysedStatement,
  CallOptions,
  EngineChoice,
  FrameSql,
  ReturnedResult,
} from '../../../query/frame-sql.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { reportLive } from '../../exchange/live-report.ts';
import type { Operation } from '../../exchange/operation.ts';
import { readParameters } from '../../exchange/parameters.ts';
import { producerHeaders } from '../../exchange/producer.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import { type EngineReport, engineReportSchema, reportEngine } from '../../exchange/requested-engine.ts';
import type { Route } from '../../exchange/route.ts';
import { type JsonLimits, jsonBody } from '../../json/json-body.ts';
import { sendJson } from '../../json/send-json.ts';
import { engineErrors, frameErrors, sqlErrors, storageErrors } from '../../openapi/error-groups.ts';
import { sendTable } from '../../table/send-table.ts';
import { columnSchema, isoTime } from '../handles/summary.ts';
import { type Keep, parseSqlCommand, type SqlCommand, sqlKeys, sqlSchema } from './command.ts';
import { boundParameters, parameterTakerOf } from './parameters.ts';

export interface SqlRouteOptions {
  readonly frames: Pick<Frames, 'writeParquet'>;
  readonly sql: FrameSql;
  readonly settings: JsonLimits & {
    readonly maxLimit: number | undefined;
    readonly compression: boolean;
  };
}

/** The context of a caller's statement. */
interface Run {
  readonly command: SqlCommand;
  readonly statement: AnalysedStatement;
  readonly parameters: Uint8Array | undefined;
  readonly choice: EngineChoice;
  readonly engineReport: EngineReport | undefined;
  /** For an INSERT, or for rows that are stored as an append. */
  readonly producer: Producer | undefined;
}

/** Longer texts are refused, and are not echoed. */
const longestEcho = 1_048_576;

/** Runs a statement over the frames: its rows are sent, or kept as a frame; or it changes frames. */
export function sqlRoute({ frames, sql, settings }: SqlRouteOptions): Route {
  return {
    path: '/sql',
    methods: ['POST'],
    takesBody: true,
    operations: { POST: operation },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const producer = parseProducer(exchange.requestHeaders);
      const command = await readCommand(exchange, settings);
      const { principal, signal, lane, requestId } = exchange;
      const { timeoutMs, keep } = command;
      if (timeoutMs !== undefined) exchange.answerWithin(timeoutMs);
      const choice = await sql.choose(principal, command, { signal, lane });
      const engineReport = reportEngine(exchange, command, choice);
      const statement = await sql.analyze(principal, choice, { signal, lane, requestId });
      const parameters = boundParameters(command.params, parameterTakerOf(statement));
      const run = { command, statement, parameters, choice, engineReport, producer };
      const reads = statement.kind === 'query' || statement.kind === 'showTables';
      if (reads && keep?.mode !== 'append') refuseProducer(producer, 'nothing is appended');
      if ('returning' in statement && statement.returning !== undefined)
        await sendReturned(exchange, run, { frames, sql, ...settings });
      else if (!reads) sendJson(exchange, { ...(await change(exchange, run, sql)), ...engineReport });
      else if (keep !== undefined)
        sendJson(exchange, { ...(await keepRows(exchange, run, keep, sql)), ...engineReport });
      else await sendRows(exchange, run, { frames, sql, ...settings });
    },
  };
}

async function readCommand(exchange: Exchange, settings: SqlRouteOptions['settings']): Promise<SqlCommand> {
  const body = await jsonBody(exchange, Object.keys(sqlKeys), settings);
  if (body === undefined) {
    throw new AppError('missing_parameter', 'the request has no body', { hint: 'send JSON: {"sql":"SELECT …"}' });
  }
  const text = body.get('sql');
  if (typeof text === 'string' && text.length <= longestEcho) exchange.asked = text;
  return parseSqlCommand(body, settings);
}

async function sendRows(
  exchange: Exchange,
  { command, statement, parameters, choice, engineReport }: Run,
  options: Pick<SqlRouteOptions, 'frames' | 'sql'> & SqlRouteOptions['settings'],
): Promise<void> {
  const { sql: query, range, columns, format } = command;
  const { principal } = exchange;
  // An engine elsewhere has a clock of its own.
  if (!choice.isElsewhere) exchange.answerWithin(options.requestTimeoutMs);
  const request = { statement, parameters, fromRow: range.from, toRow: range.to, columns };
  await sendTable(
    exchange,
    {
      query,
      engineReport,
      open: (form) => options.sql.query(principal, { ...request, form }, callOf(exchange)),
    },
    format,
    options,
  );
}

/** The statement runs once; its rows are held until they are sent. */
async function sendReturned(
  exchange: Exchange,
  { command, statement, parameters, producer, engineReport }: Run,
  { sql: frameSql, ...options }: Pick<SqlRouteOptions, 'frames' | 'sql'> & SqlRouteOptions['settings'],
): Promise<void> {
  refuseKeep(command);
  const { sql: query, range, columns, format } = command;
  const { principal } = exchange;
  let updated = 0;
  const open = async (form: ChunkForm): Promise<ReturnedResult> => {
    const returned = { form, fromRow: range.from, toRow: range.to, columns };
    const request = { statement, parameters, producer, returned };
    const holdReturned = (bytes: number): Promise<void> => exchange.holdAnswer(bytes);
    const done = await frameSql.update(principal, request, { ...callOf(exchange), holdReturned });
    updated = done.rows;
    if (done.returned === undefined) throw new Error('a statement with RETURNING gives no rows');
    return done.returned;
  };
  await sendTable(exchange, { query, engineReport, changed: () => ({ dml: 'OK', updated }), open }, format, options);
}

async function keepRows(
  exchange: Exchange,
  { command, statement, parameters, producer }: Run,
  keep: Keep,
  sql: FrameSql,
): Promise<object> {
  const { range, columns: chosen } = command;
  const request = { statement, parameters, fromRow: range.from, toRow: range.to, columns: chosen };
  const kept = await sql.keep(exchange.principal, request, { ...keep, producer }, callOf(exchange));
  const { handle, version, rows, rowsPut: rowsAdded, bytes, columns, expiresAt, isRepeated } = kept;
  const expires = expiresAt === undefined ? null : isoTime(expiresAt);
  return {
    handle,
    version,
    rows,
    rowsAdded,
    bytes,
    columns: columns.map(execColumn),
    expires,
    ...repeated(isRepeated),
  };
}

/** As QuestDB answers. */
async function change(
  exchange: Exchange,
  { command, statement, parameters, producer }: Run,
  sql: FrameSql,
): Promise<object> {
  refuseKeep(command);
  const request = { statement, parameters, producer };
  const { rows: updated, isRepeated } = await sql.update(exchange.principal, request, callOf(exchange));
  const countsRows = ['insert', 'change', 'truncate'].includes(statement.kind);
  return countsRows ? { dml: 'OK', updated, ...repeated(isRepeated) } : { ddl: 'OK' };
}

function callOf(exchange: Exchange): CallOptions {
  const { signal, lane, requestId } = exchange;
  return { signal, lane, requestId, onLive: reportLive(exchange) };
}

function refuseKeep({ keep }: SqlCommand): void {
  if (keep === undefined) return;
  throw new AppError('invalid_parameter', 'keep is given, and the statement has no rows to keep', {
    hint: 'keep is for queries; CREATE TABLE … AS keeps its rows by itself',
  });
}

function repeated(isRepeated: boolean | undefined): { readonly repeated?: true } {
  return isRepeated ? { repeated: true } : {};
}

const binary = { type: 'string', format: 'binary' } as const;
const text = { type: 'string' } as const;

const repeatedSchema = {
  const: true,
  description: 'The append of this producer was seen before: no row was added again.',
} as const;

const rowsSchema = {
  type: 'object',
  description: 'The rows, in the shape of /exec.',
  properties: {
    query: text,
    columns: { type: 'array', items: columnSchema },
    timestamp: { type: 'integer', const: -1 },
    dataset: { type: 'array', items: { type: 'array' } },
    count: { type: 'integer' },
    dml: { const: 'OK', description: 'Of a statement with RETURNING.' },
    updated: { type: 'integer', description: 'Rows that it changed.' },
    ...engineReportSchema,
  },
  required: ['dataset', 'count'],
} as const;

const keptSchema = {
  type: 'object',
  description: 'The frame that holds the rows, with `keep`.',
  properties: {
    handle: text,
    version: { type: 'integer' },
    rows: { type: 'integer', description: 'Of the frame.' },
    rowsAdded: { type: 'integer', description: 'Of the statement: in the mode append fewer than the frame has.' },
    bytes: { type: 'integer' },
    columns: { type: 'array', items: columnSchema },
    expires: { type: ['string', 'null'], format: 'date-time' },
    repeated: repeatedSchema,
    ...engineReportSchema,
  },
  required: ['handle', 'version', 'rows', 'rowsAdded', 'bytes', 'columns', 'expires'],
} as const;

const ddlSchema = {
  type: 'object',
  properties: { ddl: { const: 'OK' }, ...engineReportSchema },
  required: ['ddl'],
} as const;
const dmlSchema = {
  type: 'object',
  properties: {
    dml: { const: 'OK' },
    updated: { type: 'integer', description: 'Rows that were added, changed or removed.' },
    repeated: repeatedSchema,
    ...engineReportSchema,
  },
  required: ['dml', 'updated'],
} as const;

const operation: Operation = {
  access: 'runStatements',
  summary: 'Runs a statement over the frames',
  description:
    'For statements that are long, take parameters, or change frames (CREATE TABLE, INSERT INTO, UPDATE, DELETE, DROP TABLE …). An error after the first byte of the rows cuts the connection, so that nothing incomplete is taken for whole.',
  parameters: {},
  headers: producerHeaders,
  requestBody: {
    required: true,
    description: 'JSON of at most 8 MB and 65,536 values, of which a key is one.',
    content: { 'application/json': sqlSchema },
  },
  responses: {
    200: {
      description: 'The rows in the format that was asked for, or what became of the statement.',
      content: {
        'application/json': { oneOf: [rowsSchema, keptSchema, ddlSchema, dmlSchema] },
        'text/csv': text,
        'text/tab-separated-values': text,
        'application/x-ndjson': text,
        'application/vnd.apache.arrow.stream': binary,
        'application/vnd.apache.parquet': binary,
      },
    },
  },
  errors: [
    'missing_parameter',
    'invalid_parameter',
    'invalid_input',
    'too_large',
    'unsupported_format',
    'invalid_limit',
    'handle_exists',
    'schema_mismatch',
    'producer_gap',
    'producer_fenced',
    'frame_changed',
    'unsupported_type',
    'overloaded',
    ...frameErrors,
    ...sqlErrors,
    ...engineErrors,
    'quota_exceeded',
    'rate_limited',
    ...storageErrors,
  ],
};
