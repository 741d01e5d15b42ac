import { pipeline } from 'node:stream/promises';
import { AppError } from '../../../core/app-error.ts';
import type { Tsdb } from '../../../core/tsdb.ts';
import { answerInTime, write } from '../../exchange/response-writer.ts';
import type { Exchange } from '../../exchange/route.ts';
import type { ForwardSql } from './command.ts';

/** Passes SQL on to the external database and its answer back, as it comes. */
export async function forwardSql(
  command: ForwardSql,
  { request, response, headers }: Exchange,
  tsdb: Tsdb,
  { requestTimeoutMs }: { readonly requestTimeoutMs: number },
): Promise<void> {
  const signal = answerInTime(
    response,
    requestTimeoutMs,
    () => new AppError('tsdb_timeout', `the external database did not answer within ${requestTimeoutMs / 1000} s`),
  );
  const statementTimeout = request.headers['statement-timeout'];
  const answer = await tsdb.forward(
    {
      door: command.door,
      parameters: command.parameters,
      statementTimeout: Array.isArray(statementTimeout) ? statementTimeout[0] : statementTimeout,
      acceptEncoding: request.headers['accept-encoding'],
    },
    { signal },
  );
  const { contentType, contentEncoding, contentLength, contentDisposition } = answer;
  if (contentType !== undefined) headers.push('content-type', contentType);
  if (contentEncoding !== undefined) headers.push('content-encoding', contentEncoding);
  if (contentLength !== undefined) headers.push('content-length', contentLength);
  if (contentDisposition !== undefined) headers.push('content-disposition', contentDisposition);
  response.writeHead(answer.status, headers);
  await pipeline(answer.body, async (body: AsyncIterable<Buffer>) => {
    for await (const bytes of body) await write(response, bytes);
  });
  response.end();
}
