import { AppError } from '../../../core/errors/app-error.ts';
import { tsdbEngineName } from '../../../core/names/engine-names.ts';
import type { Tsdb } from '../../../core/sql/tsdb.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { ForwardSql } from './command.ts';

/** Passes SQL on to the external database, and streams its answer back. */
export async function forwardSql(
  command: ForwardSql,
  exchange: Exchange,
  tsdb: Tsdb,
  { requestTimeoutMs }: { readonly requestTimeoutMs: number },
): Promise<void> {
  const { requestHeaders, headers, signal, record } = exchange;
  refuseCrossSite(exchange);
  if (record !== undefined) {
    record.notes.statement({ sql: command.query, engine: tsdbEngineName });
    // It runs any statement.
    record.notes.changed();
  }
  exchange.answerWithin(
    requestTimeoutMs,
    () => new AppError('tsdb_timeout', `the external database did not answer within ${requestTimeoutMs / 1000} s`),
  );
  const statementTimeout = requestHeaders['statement-timeout'];
  const answer = await tsdb.forward(
    {
      door: command.door,
      parameters: command.parameters,
      statementTimeout: Array.isArray(statementTimeout) ? statementTimeout[0] : statementTimeout,
      acceptEncoding: requestHeaders['accept-encoding'],
    },
    { signal },
  );
  const { contentType, contentEncoding, contentLength, contentDisposition } = answer;
  if (contentType !== undefined) headers.push('content-type', contentType);
  if (contentEncoding !== undefined) headers.push('content-encoding', contentEncoding);
  if (contentLength !== undefined) headers.push('content-length', contentLength);
  if (contentDisposition !== undefined) headers.push('content-disposition', contentDisposition);
  await exchange.sendPieces(answer.status, answer.body);
}
