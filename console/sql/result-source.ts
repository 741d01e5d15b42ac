import { signal } from '@preact/signals';
import type { Cell, GridColumn, GridSource } from '../grid/grid-source.ts';

/** Rows that are in memory, for the grid. */
export function resultSource(
  key: string,
  columns: readonly GridColumn[],
  rows: readonly (readonly Cell[])[],
): GridSource {
  return { key, columns, rowCount: signal(rows.length), rows: async (from, to) => rows.slice(from, to) };
}
