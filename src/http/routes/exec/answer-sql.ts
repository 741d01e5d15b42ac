import { execForm } from '../../../core/rows/frame-engine.ts';
import type { SqlResult } from '../../../core/sql/sql.ts';
import { execJsonHead, execJsonRows, execJsonTail } from '../../../encoding/rows/exec-json.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import { chooseCoding } from '../../exchange/content-coding.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { reportLive } from '../../exchange/live-report.ts';
import { type EngineReport, reportEngine } from '../../exchange/requested-engine.ts';
import { sendBody } from '../../exchange/send-body.ts';
import type { ExecSettings, QueryFrames } from './command.ts';

/** Answers with the rows of a statement over the frames, in the shape of QuestDB's own answers. */
export async function answerSql(
  command: QueryFrames,
  exchange: Exchange,
  sql: FrameSql,
  settings: ExecSettings,
): Promise<void> {
  const { principal, signal, lane, requestId, headers } = exchange;
  const { requestTimeoutMs, compression, maxLimit } = settings;
  const startedAt = process.hrtime.bigint();
  const text = { sql: command.query, engine: command.engine };
  const choice = await sql.choose(principal, text, { signal, lane });
  const engineReport = reportEngine(exchange, command, choice);
  if (!choice.isElsewhere) exchange.answerWithin(requestTimeoutMs);
  const coding = compression ? chooseCoding(exchange.requestHeaders['accept-encoding']) : undefined;
  if (compression) headers.push('vary', 'Accept-Encoding');
  const options = { signal, lane, requestId, onLive: reportLive(exchange) };
  await using result = await sql.query(
    principal,
    {
      statement: await sql.analyze(principal, choice, options),
      form: execForm(command),
      fromRow: command.range.from,
      // Ranges without an end get the operator's limit.
      toRow: Math.min(command.range.to, command.range.from + (maxLimit ?? Infinity)),
      columns: command.columns,
      countAll: command.count,
    },
    options,
  );
  const body = execJson(command, result, startedAt, engineReport);
  await sendBody(exchange, body, { headers: ['content-type', jsonContentType], coding });
}

async function* execJson(
  command: QueryFrames,
  result: SqlResult,
  startedAt: bigint,
  engine: EngineReport | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { query, metadata } = command;
  const compiledAt = process.hrtime.bigint();
  yield execJsonHead(metadata ? { query, columns: result.columns, isStatement: true } : undefined);
  const rows = yield* execJsonRows(result.rows());
  const endedAt = process.hrtime.bigint();
  yield execJsonTail({
    count: command.count ? result.totalRows : rows,
    timings: command.timings ? { compilerNs: compiledAt - startedAt, executeNs: endedAt - compiledAt } : undefined,
    explain: command.explain,
    engine: metadata ? engine : undefined,
  });
}
