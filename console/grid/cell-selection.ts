/** Counted from 0. The header is row -1. */
export interface CellAddress {
  readonly row: number;
  readonly column: number;
}

/** All of them within. */
export interface CellRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

export interface CellSelection {
  /** The cell that keys move. */
  readonly active: CellAddress;
  /** The corner of the range that stays. */
  readonly anchor: CellAddress;
}

export interface TableExtent {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Rows for PageUp and PageDown. */
  readonly pageRows: number;
}

export interface KeyStroke {
  readonly key: string;
  readonly isCtrl: boolean;
  readonly isShift: boolean;
}

export function selectionAt(row: number, column: number): CellSelection {
  return { active: { row, column }, anchor: { row, column } };
}

/** undefined: the header is active, and nothing is selected. */
export function rangeOf({ active, anchor }: CellSelection): CellRange | undefined {
  if (active.row < 0 || anchor.row < 0) return undefined;
  return {
    firstRow: Math.min(active.row, anchor.row),
    lastRow: Math.max(active.row, anchor.row),
    firstColumn: Math.min(active.column, anchor.column),
    lastColumn: Math.max(active.column, anchor.column),
  };
}

export function isInRange(range: CellRange | undefined, row: number, column: number): boolean {
  return (
    range !== undefined &&
    row >= range.firstRow &&
    row <= range.lastRow &&
    column >= range.firstColumn &&
    column <= range.lastColumn
  );
}

/** The selection after a key of the ARIA grid pattern; undefined: the key is none of them. */
export function moveSelection(from: CellSelection, stroke: KeyStroke, extent: TableExtent): CellSelection | undefined {
  const lastRow = extent.rowCount - 1;
  const lastColumn = extent.columnCount - 1;
  const { row, column } = from.active;
  if (stroke.key === ' ') return selectLine(from, stroke, extent);
  if (stroke.key === 'a' && stroke.isCtrl && !stroke.isShift) {
    return { active: { row: lastRow, column: lastColumn }, anchor: { row: 0, column: 0 } };
  }
  const target = targetOf({ row, column }, stroke, { lastRow, lastColumn, pageRows: extent.pageRows });
  if (target === undefined) return undefined;
  const lowest = stroke.isShift && from.anchor.row >= 0 ? 0 : -1;
  const active = { row: within(target.row, lowest, lastRow), column: within(target.column, 0, lastColumn) };
  return { active, anchor: stroke.isShift ? from.anchor : active };
}

function targetOf(
  { row, column }: CellAddress,
  { key, isCtrl }: KeyStroke,
  { lastRow, lastColumn, pageRows }: { lastRow: number; lastColumn: number; pageRows: number },
): CellAddress | undefined {
  switch (key) {
    case 'ArrowUp':
      return { row: isCtrl ? 0 : row - 1, column };
    case 'ArrowDown':
      return { row: isCtrl ? lastRow : row + 1, column };
    case 'ArrowLeft':
      return { row, column: isCtrl ? 0 : column - 1 };
    case 'ArrowRight':
      return { row, column: isCtrl ? lastColumn : column + 1 };
    case 'PageUp':
      return { row: Math.max(row - pageRows, 0), column };
    case 'PageDown':
      return { row: row + pageRows, column };
    case 'Home':
      return { row: isCtrl ? 0 : row, column: 0 };
    case 'End':
      return { row: isCtrl ? lastRow : row, column: lastColumn };
    default:
      return undefined;
  }
}

/** Shift+Space: its rows; Ctrl+Space: its columns. */
function selectLine(
  { active, anchor }: CellSelection,
  { isCtrl, isShift }: KeyStroke,
  { rowCount, columnCount }: TableExtent,
): CellSelection | undefined {
  if (isShift === isCtrl || active.row < 0) return undefined;
  if (isShift) return { active: { row: active.row, column: columnCount - 1 }, anchor: { row: anchor.row, column: 0 } };
  return { active: { row: rowCount - 1, column: active.column }, anchor: { row: 0, column: anchor.column } };
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(most, least));
}
