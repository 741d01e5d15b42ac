import type { Cell, GridColumn } from './grid-source.ts';

const numeric = /^(BYTE|SHORT|INT|LONG|FLOAT|DOUBLE|DECIMAL(\(.*\))?)$/;
const numericOfEngines = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U[A-Z]*INT|REAL)$/;
/** More is not laid out in a cell. */
const maxShown = 300;

export function isNumeric({ type }: GridColumn): boolean {
  return numeric.test(type) || numericOfEngines.test(type);
}

/** Whether a spreadsheet could take a value of it for a formula. */
export function isText(column: GridColumn): boolean {
  return !isNumeric(column) && !/^(BOOLEAN|DATE|TIME|TIMESTAMP.*|UUID)$/.test(column.type);
}

/** All of a value, as an export spells it. NULL has no text. */
export function textOf(cell: Cell, { type }: GridColumn): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return type === 'DATE' ? cell.replace(/T00:00:00(\.0+)?Z$/, '') : cell;
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** One line of it. */
export function shownText(cell: Cell, column: GridColumn): string {
  if (cell === null) return 'NULL';
  const text = textOf(cell, column);
  if (text === '') return '""';
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return cut.replace(/\r\n?|\n/g, '↵').replace(/\t/g, '⇥');
}

/** What a cell looks like beside its text. */
export function cellClass(cell: Cell | undefined, column: GridColumn): string {
  if (cell === undefined) return 'grid-cell pending';
  if (cell === null) return isNumeric(column) ? 'grid-cell number null' : 'grid-cell null';
  if (cell === '') return 'grid-cell null';
  return isNumeric(column) ? 'grid-cell number' : 'grid-cell';
}
