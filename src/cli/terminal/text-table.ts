import { shownCount } from '../../core/text/amounts.ts';
import { printable } from '../framework/command-failure.ts';
import { cutToWidth, displayWidth } from './display-width.ts';

export interface TableColumn {
  readonly name: string;
  readonly align: 'left' | 'right';
}

/** Null is SQL's NULL. */
export type TextCell = string | null;

export interface TextTableOptions {
  /** Columns of the terminal; undefined: nothing is cut. */
  readonly width: number | undefined;
  readonly colour: boolean;
}

const gap = '  ';
/** Narrower than this a column of text says nothing; of a number no digit may be missing. */
const leastWidth = { left: 8, right: 24 } as const;
/** No cell is worth more of a line than this, however wide the terminal. */
const longestCell = 1000;

/** Rows under their names, aligned, and cut to the width of the terminal. */
export function textTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly TextCell[])[],
  { width, colour }: TextTableOptions,
): string {
  const shownRows = rows.map((row) => row.map((cell) => (cell === null ? 'NULL' : printable(start(cell, width)))));
  const names = columns.map(({ name }) => printable(name));
  const natural = names.map((name, index) =>
    shownRows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? '')), displayWidth(name)),
  );
  const least = natural.map((each, index) => Math.min(each, leastWidth[columns[index]?.align ?? 'left']));
  const widths = fitted(natural, least, width);
  const line = (cells: readonly string[], style: (cell: string, index: number) => string): string => {
    const padded = widths.map((columnWidth, index) => {
      const cell = cutToWidth(cells[index] ?? '', columnWidth);
      const padding = ' '.repeat(columnWidth - displayWidth(cell));
      const styled = style(cell, index);
      return columns[index]?.align === 'right' ? padding + styled : styled + padding;
    });
    return `${padded.join(gap).trimEnd()}\n`;
  };
  const dim = (text: string): string => (colour ? `\x1b[2m${text}\x1b[22m` : text);
  const bold = (text: string): string => (colour ? `\x1b[1m${text}\x1b[22m` : text);
  const body = shownRows.map((cells, at) =>
    line(cells, (cell, index) => (rows[at]?.[index] === null ? dim(cell) : cell)),
  );
  const rule = dim(widths.map((columnWidth) => '-'.repeat(columnWidth)).join(gap));
  const left = names.slice(widths.length);
  const note = `(${shownCount(left.length, 'more column')}: ${left.join(', ')})`;
  return `${line(names, bold)}${rule}\n${body.join('')}${left.length === 0 ? '' : `${dim(cutToWidth(note, width ?? 0))}\n`}`;
}

function start(cell: string, width: number | undefined): string {
  return width === undefined || cell.length <= longestCell ? cell : `${cell.slice(0, longestCell)}…`;
}

/** The widths of columns that fit: the widest shrink first, then the last are left out. */
function fitted(natural: readonly number[], least: readonly number[], width: number | undefined): readonly number[] {
  if (width === undefined || total(natural) <= width) return natural;
  if (total(least) > width) {
    return natural.length === 1 ? [width] : fitted(natural.slice(0, -1), least.slice(0, -1), width);
  }
  const capped = (cap: number): number[] =>
    natural.map((each, index) => Math.max(least[index] ?? 0, Math.min(each, cap)));
  let cap = Math.max(...natural);
  while (total(capped(cap)) > width) cap--;
  const widths = capped(cap);
  // The rest of rounding goes to the first column that was cut.
  const cut = widths.findIndex((each, index) => each < (natural[index] ?? 0));
  return widths.map((each, index) => (index === cut ? each + width - total(widths) : each));
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + gap.length * (widths.length - 1);
}
