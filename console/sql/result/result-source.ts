import { signal } from '@preact/signals';
import { rowsInRequests } from '../../api/max-limit.ts';
import { getExactJson, withQuery } from '../../api/request.ts';
import { type AnswerColumn, type Cell, type GridColumn, type GridSource, gridColumn } from '../../grid/grid-source.ts';

/** Rows that are in memory, for the grid. */
export function resultSource(
  key: string,
  columns: readonly GridColumn[],
  rows: readonly (readonly Cell[])[],
): GridSource {
  return { key, columns, rowCount: signal(rows.length), rows: async (from, to) => rows.slice(from, to) };
}

/** A frame that all rows of a result became, as it was then. */
export interface KeptFrame {
  readonly handle: string;
  readonly versionId: string;
  readonly rows: number;
  readonly columns: readonly AnswerColumn[];
}

/** Its rows, page by page. They are refused where the frame is another one by then. */
export function keptSource({ handle, versionId, rows, columns }: KeptFrame): GridSource {
  return {
    key: `${handle}:${versionId}`,
    columns: columns.map(gridColumn),
    rowCount: signal(rows),
    rows: (from, to, signal) =>
      rowsInRequests(from, to, signal, async (first, end) => {
        const numbers = { quoteLargeNum: true, quoteNonFinite: true };
        const asked = { handle, fmt: 'json', limit: `${first + 1},${end}`, ...numbers, version: versionId };
        const path = withQuery('/exec', asked);
        return (await getExactJson<{ readonly dataset: readonly (readonly Cell[])[] }>(path, { signal })).dataset;
      }),
  };
}
