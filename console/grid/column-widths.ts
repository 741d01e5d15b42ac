import { isNumeric, shownText } from './cell-text.ts';
import { minColumnPx } from './column-layout.ts';
import type { Cell, GridColumn } from './grid-source.ts';

const maxFittedPx = 360;
const paddingPx = 22;
const sampledRows = 60;
/** In tables of more columns, only the longest text of each is measured. */
const mostMeasured = 100;

/** Widths that fit the names and these rows. `fonts`: as CSS has them. */
export function fittedWidths(
  columns: readonly GridColumn[],
  rows: readonly (readonly Cell[])[],
  fonts: { readonly cell: string; readonly name: string },
): number[] {
  const context = document.createElement('canvas').getContext('2d');
  const widest = (texts: readonly string[], font: string): number => {
    if (context === null) return Math.max(0, ...texts.map((text) => text.length * 8));
    context.font = font;
    return Math.max(0, ...texts.map((text) => context.measureText(text).width));
  };
  const names = columns.map(({ name, type }) => Math.max(widest([name.slice(0, 60)], fonts.name), type.length * 7.6));
  return columns.map((column, index) => {
    const texts = rows.slice(0, sampledRows).map((row) => shownText(row[index] ?? null, column));
    const longest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
    const cells = widest(columns.length <= mostMeasured ? texts : [longest], fonts.cell);
    const px = Math.max(names[index] ?? 0, cells) + paddingPx;
    return Math.ceil(Math.min(Math.max(px, leastPx(column)), maxFittedPx));
  });
}

/** The first rows of a column of numbers often have the small ones. */
function leastPx(column: GridColumn): number {
  if (!isNumeric(column)) return minColumnPx + 24;
  return /^(LONG|BIGINT|DECIMAL)/.test(column.type) ? 112 : 80;
}
