import type { Cell, GridColumn } from './grid-source.ts';

const numeric = /^(BYTE|SHORT|INT|LONG|FLOAT|DOUBLE|DECIMAL(\(.*\))?)$/;
const numericOfEngines = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U[A-Z]*INT|REAL)$/;
/** Types whose values other than finite numbers the server writes by name. */
const measured = /^(FLOAT|DOUBLE|DATE|TIMESTAMP(_NS)?)$/;
const notFinite = new Set<Cell | undefined>(['NaN', 'Infinity', '-Infinity']);
/** In their JSON only values that are no JSON numbers have quotes. */
const numberList = /^(LONG|FLOAT|DOUBLE)\[/;
/** More is not laid out in a cell. */
const maxShown = 300;

export function isNumeric({ type }: GridColumn): boolean {
  return numeric.test(type) || numericOfEngines.test(type);
}

/** Whether a spreadsheet could take a value of it for a formula. */
export function isText(column: GridColumn): boolean {
  return !isNumeric(column) && !/^(BOOLEAN|DATE|TIME|TIMESTAMP.*|UUID)$/.test(column.type);
}

/** NaN, or infinite: a text of these letters in a column of texts is neither. */
export function isNotFinite(cell: Cell | undefined, { type }: GridColumn): boolean {
  return notFinite.has(cell) && measured.test(type);
}

/** All of a value, as an export spells it. NULL has no text. */
export function textOf(cell: Cell, column: GridColumn): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return column.type === 'DATE' ? cell.replace(/T00:00:00(\.0+)?Z$/, '') : cell;
  return typeof cell === 'object' ? jsonOf(cell, column) : String(cell);
}

/** `indent`: each part on a line of its own. */
export function jsonOf(cell: Cell, { type }: GridColumn, indent?: number): string {
  const text = JSON.stringify(cell, null, indent);
  return numberList.test(type) ? text.replaceAll('"', '') : text;
}

/** One line of it. */
export function shownText(cell: Cell, column: GridColumn): string {
  if (cell === null) return 'NULL';
  const text = textOf(cell, column);
  if (text === '') return '""';
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return cut.replace(/\r\n?|\n/g, '↵').replace(/\t/g, '⇥');
}

/** The style of a cell beside its text. */
export function cellClass(cell: Cell | undefined, column: GridColumn): string {
  if (cell === undefined) return 'grid-cell pending';
  const base = isNumeric(column) ? 'grid-cell number' : 'grid-cell';
  if (cell === null || cell === '') return `${base} null`;
  return isNotFinite(cell, column) ? `${base} not-finite` : base;
}
