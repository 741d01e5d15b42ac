import { parseJson } from '../../../encoding/json/json-text.ts';
import type { EngineChoice, FrameSql } from '../../../query/frame-sql.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { reportLive } from '../../exchange/live-report.ts';
import type { EngineReport } from '../../exchange/requested-engine.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import { chunkFormOf, exportHeaders } from '../../table/table-body.ts';
import { boundParameters, parameterTakerOf } from '../sql/parameters.ts';
import type { ExportedQuery, ExportTable } from './command.ts';
import { type ExportFileOptions, sendQueryFile, wantsFile } from './export-file.ts';

/** Answers with the rows of a statement over the frames. */
export async function exportQuery(
  command: ExportTable & ExportedQuery,
  exchange: Exchange,
  options: SendTableOptions &
    ExportFileOptions & {
      readonly sql: FrameSql;
      readonly choice: EngineChoice;
      readonly engineReport: EngineReport | undefined;
    },
): Promise<void> {
  const { query, params, range, columns, format } = command;
  const { sql, choice, engineReport } = options;
  const { principal, signal, lane, requestId } = exchange;
  const call = { signal, lane, requestId, onLive: reportLive(exchange) };
  const statement = await sql.analyze(principal, choice, call);
  const given = params === undefined ? undefined : parseJson(params, 'params');
  const parameters = boundParameters(given, parameterTakerOf(statement));
  const request = { statement, parameters, fromRow: range.from, toRow: range.to, columns };
  if (wantsFile(format, exchange, options)) {
    const version = await sql.sourceVersion(principal, statement, call);
    const form = chunkFormOf(format);
    const open = (making: AbortSignal) => sql.query(principal, { ...request, form }, { ...call, signal: making });
    const source = { engine: choice.engine, version, open };
    if (await sendQueryFile({ ...command, engineReport }, source, exchange, options)) return;
  }
  // A request for the headers alone does not run the statement.
  if (exchange.method === 'HEAD' && !(await sql.prepare(principal, statement, call)).isUpdate) {
    exchange.headers.push(...exportHeaders(format), ...exchange.cacheControl('no-store'));
    return exchange.send(200);
  }
  const open = (form: Parameters<typeof sql.query>[1]['form']) => sql.query(principal, { ...request, form }, call);
  await sendTable(exchange, { query, engineReport, open }, format, options);
}
