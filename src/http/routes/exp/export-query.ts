import type { EngineChoice, FrameSql } from '../../../query/frame-sql.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { EngineReport } from '../../exchange/requested-engine.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import type { TableSource } from '../../table/table.ts';
import type { ExportTable } from './command.ts';

/** Answers with the rows of a statement over the frames. */
export async function exportQuery(
  { query, range, columns, format }: ExportTable & { readonly query: string },
  exchange: Exchange,
  options: SendTableOptions & {
    readonly sql: FrameSql;
    readonly choice: EngineChoice;
    readonly told: EngineReport | undefined;
  },
): Promise<void> {
  const { sql, choice, told } = options;
  const { principal, signal, lane, requestId } = exchange;
  const call = { signal, lane, requestId };
  const statement = await sql.analyze(principal, choice, call);
  const request = { statement, fromRow: range.from, toRow: range.to, columns };
  const open: TableSource['open'] = (form) => sql.query(principal, { ...request, form }, call);
  await sendTable(exchange, { query, told, open }, format, options);
}
