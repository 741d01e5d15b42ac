import type { SqlResult } from '../../../core/sql.ts';
import { execJsonRows, execSqlHead, execSqlTail } from '../../../encoding/rows/exec-json.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import { type ContentCoding, chooseCoding } from '../../exchange/content-coding.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import { type EngineReport, reportEngine, untilAnswered } from '../../exchange/requested-engine.ts';
import { abortOnLeave } from '../../exchange/response-writer.ts';
import type { Exchange } from '../../exchange/route.ts';
import { fairnessLane } from '../../exchange/route.ts';
import { sendStream } from '../../exchange/send-stream.ts';
import type { ExecSettings, QueryFrames } from './command.ts';

/** Answers with the rows of a statement over the frames, in the shape of QuestDB's own answers. */
export async function answerSql(
  command: QueryFrames,
  exchange: Exchange,
  sql: FrameSql,
  settings: ExecSettings,
): Promise<void> {
  const { request, response, headers, requestId } = exchange;
  const { requestTimeoutMs, compression, maxLimit } = settings;
  const lane = fairnessLane(exchange);
  const startedAt = process.hrtime.bigint();
  const choosing = abortOnLeave(response);
  const choice = await sql.choose(exchange.principal, command.query, {
    engine: command.engine,
    signal: choosing,
    lane,
  });
  const told = reportEngine(exchange, command, choice);
  const signal = untilAnswered(exchange, choice, requestTimeoutMs);
  const coding = compression ? chooseCoding(request.headers['accept-encoding']) : undefined;
  await using result = await sql.query(
    exchange.principal,
    {
      sql: command.query,
      form: command.quoteLargeNum ? 'exec-json-quoted' : 'exec-json',
      fromRow: command.range.from,
      // Ranges without an end have the one that the operator sets.
      toRow: Math.min(command.range.to, command.range.from + (maxLimit ?? Infinity)),
      columns: command.columns,
      countAll: command.count,
    },
    { signal, lane, engine: choice.engine, requestId },
  );
  const body = execJson(command, result, startedAt, told);
  try {
    // Errors of the first rows are still errors with a status of their own.
    const begun = await firstPieces(body);
    headers.push('content-type', jsonContentType, 'cache-control', 'no-store');
    if (compression) headers.push('vary', 'Accept-Encoding');
    await send({ response, headers }, begun, body, coding);
  } finally {
    await body.return();
  }
}

async function send(
  { response, headers }: Pick<Exchange, 'response' | 'headers'>,
  begun: { readonly pieces: readonly Uint8Array[]; readonly isWhole: boolean },
  rest: AsyncIterable<Uint8Array>,
  coding: ContentCoding | undefined,
): Promise<void> {
  if (begun.isWhole && coding === undefined) {
    const whole = Buffer.concat(begun.pieces);
    headers.push('content-length', String(whole.length));
    response.writeHead(200, headers);
    response.end(whole);
    return;
  }
  if (coding !== undefined) headers.push('content-encoding', coding);
  response.writeHead(200, headers);
  await sendStream(response, begun.pieces, rest, coding);
}

const begunPieces = 3;

/** The head and the first rows, or all of a small answer. */
async function firstPieces(
  body: AsyncGenerator<Uint8Array, void, undefined>,
): Promise<{ pieces: Uint8Array[]; isWhole: boolean }> {
  const pieces: Uint8Array[] = [];
  while (pieces.length < begunPieces) {
    const step = await body.next();
    if (step.done === true) return { pieces, isWhole: true };
    pieces.push(step.value);
  }
  const end = await body.next();
  if (end.done === true) return { pieces, isWhole: true };
  return { pieces: [...pieces, end.value], isWhole: false };
}

async function* execJson(
  command: QueryFrames,
  result: SqlResult,
  startedAt: bigint,
  engine: EngineReport | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { query, metadata } = command;
  const compiledAt = process.hrtime.bigint();
  yield execSqlHead(metadata ? { query, columns: result.columns } : undefined);
  const rows = yield* execJsonRows(result.rows());
  const endedAt = process.hrtime.bigint();
  yield execSqlTail({
    count: command.count ? result.totalRows : rows,
    timings: command.timings ? { compilerNs: compiledAt - startedAt, executeNs: endedAt - compiledAt } : undefined,
    explain: command.explain,
    engine: metadata ? engine : undefined,
  });
}
