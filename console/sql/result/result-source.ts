import { signal } from '@preact/signals';
import { getJson, withQuery } from '../../api/request.ts';
import type { Cell, GridColumn, GridSource } from '../../grid/grid-source.ts';

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
  readonly columns: readonly GridColumn[];
}

/** Its rows, page by page. They are refused where the frame is another one by then. */
export function keptSource({ handle, versionId, rows, columns }: KeptFrame): GridSource {
  return {
    key: `${handle}:${versionId}`,
    columns,
    rowCount: signal(rows),
    async rows(from, to, abort) {
      const asked = {
        handle,
        fmt: 'json',
        limit: `${from + 1},${to}`,
        nm: true,
        quoteLargeNum: true,
        version: versionId,
      };
      const page = await getJson<{ readonly dataset: readonly (readonly Cell[])[] }>(withQuery('/exec', asked), {
        signal: abort,
      });
      return page.dataset;
    },
  };
}
