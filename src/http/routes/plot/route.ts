import { AppError } from '../../../core/errors/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../../core/names/engine-names.ts';
import type { Tsdb } from '../../../core/sql/tsdb.ts';
import { type Plot, plotKinds } from '../../../plot/plot-spec.ts';
import { type BindParameters, type Plotter, plotOfTsdb } from '../../../plot/plotter.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import { chooseCoding } from '../../exchange/content-coding.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { readParameters } from '../../exchange/parameters.ts';
import { tsdbNotConfigured } from '../../exchange/query-refusals.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import { type EngineReport, engineReportSchema, reportEngine } from '../../exchange/requested-engine.ts';
import type { Route } from '../../exchange/route.ts';
import { sendBody } from '../../exchange/send-body.ts';
import { type JsonLimits, jsonBody } from '../../json/json-body.ts';
import { engineErrors, frameErrors, sqlErrors, tsdbErrors } from '../../openapi/error-groups.ts';
import { boundParameters, parameterTakerOf } from '../sql/parameters.ts';
import { type PlotCommand, parsePlotCommand, plotKeys, plotSchema } from './command.ts';

export interface PlotRouteOptions {
  readonly plotter: Plotter;
  readonly sql: FrameSql;
  readonly tsdb: Tsdb | undefined;
  readonly settings: JsonLimits & { readonly compression: boolean };
}

/** A plot of a frame or a statement: few points, whatever the number of rows. */
export function plotRoute(options: PlotRouteOptions): Route {
  const { settings } = options;
  return {
    path: '/plot',
    methods: ['POST'],
    takesBody: true,
    operations: { POST: operation },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const body = await jsonBody(exchange, Object.keys(plotKeys), settings);
      const command = parsePlotCommand(body ?? new Map());
      if (command.source === 'statement') exchange.asked = command.sql.slice(0, longestEcho);
      const { plot, engineReport } = await draw(exchange, command, options);
      await sendPlot(exchange, { ...plotDocument(plot), ...engineReport }, settings);
    },
  };
}

const longestEcho = 1_048_576;

async function draw(
  exchange: Exchange,
  command: PlotCommand,
  { plotter, sql, tsdb, settings }: PlotRouteOptions,
): Promise<{ readonly plot: Plot; readonly engineReport?: EngineReport | undefined }> {
  const { principal, signal, lane, requestId } = exchange;
  const options = { signal, lane, requestId };
  if (command.source === 'frame') {
    exchange.answerWithin(settings.requestTimeoutMs);
    return { plot: await plotter.ofFrame(principal, command.handle, command.spec, options) };
  }
  if (command.engine === tsdbEngineName) {
    if (command.params !== undefined) {
      throw new AppError('invalid_parameter', 'params is given, and the external database takes none from here');
    }
    if (tsdb === undefined || !mayUseEngine(principal, tsdbEngineName)) throw tsdbNotConfigured();
    const late = (): AppError =>
      new AppError('tsdb_timeout', `the external database did not answer within ${settings.requestTimeoutMs / 1000} s`);
    exchange.answerWithin(settings.requestTimeoutMs, late);
    exchange.record?.notes.statement({ sql: command.sql, engine: tsdbEngineName });
    return { plot: await plotOfTsdb(tsdb, command.sql, command.spec, { signal }) };
  }
  const bind: BindParameters = (statement) => boundParameters(command.params, parameterTakerOf(statement));
  const choice = await sql.choose(principal, command, { signal, lane });
  const engineReport = reportEngine(exchange, command, choice);
  if (!choice.isElsewhere) exchange.answerWithin(settings.requestTimeoutMs);
  return { plot: await plotter.ofStatement(principal, choice, command.spec, { ...options, bind }), engineReport };
}

function plotDocument({ seriesCount, categoryCount, notFinite, ...plot }: Plot): object {
  return {
    ...plot,
    ...(notFinite !== undefined && { not_finite: notFinite }),
    series_count: seriesCount,
    ...(categoryCount !== undefined && { category_count: categoryCount }),
  };
}

async function sendPlot(exchange: Exchange, document: object, { compression }: { readonly compression: boolean }) {
  if (compression) exchange.headers.push('vary', 'Accept-Encoding');
  const coding = compression ? chooseCoding(exchange.requestHeaders['accept-encoding']) : undefined;
  await sendBody(exchange, once(JSON.stringify(document)), { headers: ['content-type', jsonContentType], coding });
}

async function* once(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text);
}

const number = { type: 'number' } as const;
const numbers = { type: 'array', items: { type: ['number', 'null'] } } as const;
const endSchema = { type: ['number', 'null'] } as const;

const answerSchema = {
  type: 'object',
  properties: {
    kind: { enum: plotKinds },
    x: {
      type: 'object',
      description: 'What x is. Times are µs since 1970; whole numbers beyond 2^53 are rounded.',
      properties: {
        column: { type: ['string', 'null'], description: 'Null: the number of the row.' },
        type: { enum: ['time', 'number', 'category', 'row'] },
        from: endSchema,
        to: endSchema,
      },
      required: ['column', 'type', 'from', 'to'],
    },
    series: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          column: { type: ['string', 'null'], description: 'Null: rows are counted.' },
          group: { type: ['string', 'null'], description: 'The value of the column `series`.' },
          x: { type: 'array', items: { type: ['number', 'string'] }, description: 'Bars and bins: where they begin.' },
          y: numbers,
          low: { ...numbers, description: 'Of `band`.' },
          high: { ...numbers, description: 'Of `band`.' },
        },
        required: ['column', 'group', 'x', 'y'],
      },
    },
    cells: {
      type: 'object',
      description: 'Of `scatter` with more points than are sent one by one.',
      properties: {
        columns: { type: 'integer' },
        rows: { type: 'integer' },
        y: { type: 'object', properties: { from: number, to: number }, required: ['from', 'to'] },
        counts: {
          type: 'array',
          items: { type: 'integer' },
          description: 'Column, row and count of each cell that has points, one behind the other.',
        },
      },
      required: ['columns', 'rows', 'y', 'counts'],
    },
    step: { type: 'number', description: 'How wide bars and bins are.' },
    rows: { type: 'integer', description: 'Rows in the range that the plot is made of.' },
    points: { type: 'integer', description: 'Points, bars, bins or cells of the answer.' },
    not_finite: {
      type: 'integer',
      description:
        'Values of y that are NaN or infinite, and not drawn. Not of `scatter`, and on the engine local alone.',
    },
    complete: { type: 'boolean', description: 'Whether they are all values of these rows.' },
    cut: { type: 'boolean', description: 'Whether the statement has more rows than were taken of it.' },
    series_count: { type: 'integer', description: 'How many series there are, with those that are left out.' },
    category_count: {
      type: 'integer',
      description: 'Of bars over texts: how many texts there are, with those that are left out.',
    },
    ...engineReportSchema,
  },
  required: ['kind', 'x', 'series', 'rows', 'points', 'complete', 'cut', 'series_count'],
} as const;

const operation: Operation = {
  access: 'runStatements',
  summary: 'Draws a frame or a query, downsampled',
  description:
    'Gives as many points as the width can show, whatever the number of rows. With `from` and `to` the same for a part of it. It runs as a statement of the caller.',
  parameters: {},
  requestBody: { required: true, description: 'JSON.', content: { 'application/json': plotSchema } },
  responses: { 200: { description: 'The series.', content: { 'application/json': answerSchema } } },
  errors: [
    'missing_parameter',
    'invalid_parameter',
    'invalid_input',
    'too_large',
    'unsupported_type',
    'overloaded',
    'rate_limited',
    ...frameErrors,
    ...sqlErrors,
    ...engineErrors,
    ...tsdbErrors,
  ],
};
