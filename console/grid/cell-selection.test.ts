import { expect, it } from 'vitest';
import { type CellSelection, type KeyStroke, moveSelection, rangeOf, selectionAt } from './cell-selection.ts';

const extent = { rowCount: 50_000_000, columnCount: 12, pageRows: 30 };

function press(from: CellSelection, keys: string): CellSelection | undefined {
  const parts = keys.split('+');
  const stroke: KeyStroke = {
    key: parts.at(-1) ?? '',
    isCtrl: parts.includes('Ctrl'),
    isShift: parts.includes('Shift'),
  };
  return moveSelection(from, stroke, extent);
}

it.each([
  ['ArrowDown', 101, 5],
  ['ArrowUp', 99, 5],
  ['ArrowLeft', 100, 4],
  ['ArrowRight', 100, 6],
  ['PageDown', 130, 5],
  ['PageUp', 70, 5],
  ['Home', 100, 0],
  ['End', 100, 11],
  ['Ctrl+Home', 0, 0],
  ['Ctrl+End', 49_999_999, 11],
])('%s goes to row %i, column %i', (keys, row, column) => {
  expect(press(selectionAt(100, 5), keys)).toEqual(selectionAt(row, column));
});

it('stays within the table, where the header is above the first row', () => {
  expect(press(selectionAt(0, 0), 'ArrowUp')?.active).toEqual({ row: -1, column: 0 });
  expect(press(selectionAt(-1, 0), 'ArrowUp')?.active).toEqual({ row: -1, column: 0 });
  expect(press(selectionAt(49_999_999, 11), 'ArrowRight')?.active).toEqual({ row: 49_999_999, column: 11 });
});

it('selects a range with Shift, which does not take the header in', () => {
  let selection = selectionAt(1, 2);
  for (const keys of ['Shift+ArrowUp', 'Shift+ArrowUp', 'Shift+ArrowUp', 'Shift+ArrowRight']) {
    selection = press(selection, keys) ?? selection;
  }
  expect(rangeOf(selection)).toEqual({ firstRow: 0, lastRow: 1, firstColumn: 2, lastColumn: 3 });
});

it('selects rows, columns and everything', () => {
  const from = selectionAt(7, 3);
  const all = { firstRow: 0, lastRow: 49_999_999, firstColumn: 0, lastColumn: 11 };
  const rangeAfter = (keys: string) => rangeOf(press(from, keys) ?? from);
  expect(rangeAfter('Shift+ ')).toEqual({ ...all, firstRow: 7, lastRow: 7 });
  expect(rangeAfter('Ctrl+ ')).toEqual({ ...all, firstColumn: 3, lastColumn: 3 });
  expect(rangeAfter('Ctrl+a')).toEqual(all);
});

it('leaves other keys alone', () => {
  expect(press(selectionAt(1, 1), 'Tab')).toBeUndefined();
  expect(press(selectionAt(1, 1), 'a')).toBeUndefined();
});
