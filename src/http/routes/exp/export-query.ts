import type { FrameSql } from '../../../query/frame-sql.ts';
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
    readonly engine: string;
    readonly told: EngineReport | undefined;
  },
): Promise<void> {
  const { sql, engine, told } = options;
  const { principal, signal, lane, requestId } = exchange;
  const request = { sql: query, fromRow: range.from, toRow: range.to, columns };
  const open: TableSource['open'] = (form) =>
    sql.query(principal, { ...request, form }, { signal, lane, engine, requestId });
  await sendTable(exchange, { query, told, open }, format, options);
}
