import { AppError } from '../../../core/errors/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../../core/names/engine-names.ts';
import type { Tsdb } from '../../../core/sql/tsdb.ts';
import type { Frames } from '../../../frames/frames.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { headWouldExecute, tsdbNotConfigured } from '../../exchange/query-refusals.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import { reportEngine, withUsableEngine } from '../../exchange/requested-engine.ts';
import type { Route } from '../../exchange/route.ts';
import { engineErrors, frameErrors, sqlErrors, storageErrors, tsdbErrors } from '../../openapi/error-groups.ts';
import type { ExportFiles } from '../../table/export-files.ts';
import { askedFor } from '../exec/command.ts';
import { forwardSql } from '../exec/forward-sql.ts';
import { type ExpDefaults, type ExportFrame, expParameters, parseExp } from './command.ts';
import { exportFrame } from './export-frame.ts';
import { exportQuery } from './export-query.ts';

export interface SendFrameOptions {
  readonly frames: Pick<Frames, 'read' | 'openParts' | 'writeParquet' | 'temporaryFile'>;
  readonly files: ExportFiles;
  readonly sql: FrameSql;
  readonly settings: { readonly requestTimeoutMs: number; readonly compression: boolean };
}

export interface ExpRouteOptions extends SendFrameOptions {
  /** Undefined while no external database is configured. */
  readonly tsdb: Tsdb | undefined;
  readonly settings: ExpDefaults & SendFrameOptions['settings'];
}

export function expRoute(options: ExpRouteOptions): Route {
  const { frames, files, tsdb, sql, settings } = options;
  return {
    path: '/exp',
    takesTicket: true,
    methods: ['GET', 'HEAD'],
    operations: { GET: operation },
    askedFor: (target) => askedFor(parseQueryString(target)),
    async handle(exchange) {
      const command = parseExp(parseQueryString(exchange.target), settings);
      const { compression, requestTimeoutMs } = settings;
      const { timeoutMs } = command;
      switch (command.mode) {
        case 'handle':
          return await sendFrame(command, exchange, options);
        case 'sql': {
          const { principal, signal, lane } = exchange;
          const wanted = withUsableEngine(command, principal);
          const text = { sql: command.query, engine: wanted.engine };
          const choice = await sql.choose(principal, text, { signal, lane });
          const engineReport = reportEngine(exchange, wanted, choice);
          // An engine elsewhere has a clock of its own.
          if (!choice.isElsewhere || timeoutMs !== undefined) limitTime(exchange, requestTimeoutMs, timeoutMs);
          return await exportQuery(command, exchange, { frames, files, sql, compression, choice, engineReport });
        }
        case 'proxy':
          if (tsdb === undefined || !mayUseEngine(exchange.principal, tsdbEngineName)) throw tsdbNotConfigured();
          if (exchange.method === 'HEAD') throw headWouldExecute(exchange);
          return await forwardSql({ ...command, door: 'exp' }, exchange, tsdb, {
            requestTimeoutMs: timeoutMs ?? requestTimeoutMs,
          });
        default:
          command satisfies never;
      }
    },
  };
}

/** Answers with rows of a frame within the time for it. */
export async function sendFrame(
  command: ExportFrame,
  exchange: Exchange,
  { frames, files, sql, settings }: SendFrameOptions,
): Promise<void> {
  const { compression, requestTimeoutMs } = settings;
  limitTime(exchange, requestTimeoutMs, command.timeoutMs);
  await exportFrame(command, exchange, { frames, files, sql, compression });
}

/** The response must begin in time, and end within the time that the request gives it. */
function limitTime(exchange: Exchange, requestTimeoutMs: number, timeoutMs: number | undefined): void {
  const beginMs = timeoutMs ?? requestTimeoutMs;
  exchange.answerWithin(beginMs, () => tooLate(beginMs));
  if (timeoutMs !== undefined) exchange.endWithin(timeoutMs, () => tooLate(timeoutMs));
}

function tooLate(timeoutMs: number): AppError {
  return new AppError('sql_timeout', `no export within ${timeoutMs / 1000} s`, {
    hint: 'ask for less at once, or give it more seconds with timeout=',
  });
}

const binary = { type: 'string', format: 'binary' } as const;
const text = { type: 'string' } as const;

/** For every export. */
export const exportResponses = {
  200: {
    description: 'The rows.',
    content: {
      'text/csv': text,
      'text/tab-separated-values': text,
      'application/json': { type: 'object' },
      'application/x-ndjson': text,
      'application/vnd.apache.arrow.stream': binary,
      'application/vnd.apache.parquet': binary,
    },
  },
  206: {
    description: 'A range of the file.',
    content: { 'application/vnd.apache.parquet': binary, 'text/csv': text },
  },
  304: { description: 'The frame is as `If-None-Match` knows it.', content: {} },
  416: { description: 'The file ends before the range.', content: {} },
} as const;

const operation: Operation = {
  access: 'readFrames',
  summary: 'Exports a frame or the rows of a statement as a file',
  description:
    'Answers with an attachment. An error before the first byte has a status; one after it cuts the connection, so that nothing incomplete is taken for whole. A whole frame as parquet is its own file, untouched. A frame can be asked for in ranges: as its own file, and in any other form but arrow of up to 256 MiB. So can a view, and the rows of a statement over frames.',
  parameters: expParameters,
  responses: exportResponses,
  errors: [
    'unauthenticated',
    'missing_parameter',
    'ambiguous_mode',
    'invalid_parameter',
    'unsupported_format',
    'invalid_limit',
    'unsupported_type',
    'overloaded',
    ...frameErrors,
    ...sqlErrors,
    ...engineErrors,
    ...storageErrors,
    ...tsdbErrors,
  ],
};
