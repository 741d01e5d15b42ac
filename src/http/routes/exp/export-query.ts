import type { FrameSql } from '../../../query/frame-sql.ts';
import type { EngineReport } from '../../exchange/requested-engine.ts';
import type { Exchange } from '../../exchange/route.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import type { ExportTable } from './command.ts';

/** Answers with the rows of a statement over the frames. */
export async function exportQuery(
  { query, range, columns, format }: ExportTable & { readonly query: string },
  exchange: Exchange,
  options: SendTableOptions & {
    readonly sql: FrameSql;
    readonly lane: string;
    readonly engine: string;
    readonly told: EngineReport | undefined;
  },
): Promise<void> {
  const { sql, signal, lane, engine, told } = options;
  const { requestId } = exchange;
  const request = { sql: query, fromRow: range.from, toRow: range.to, columns };
  await sendTable(
    exchange,
    {
      query,
      told,
      open: (form) => sql.query(exchange.principal, { ...request, form }, { signal, lane, engine, requestId }),
    },
    format,
    options,
  );
}
