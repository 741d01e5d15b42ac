import { formatCount } from '../widgets/format.ts';
import { type TextPart, textParts } from '../widgets/hidden-characters.ts';
import { cellClass, shownText } from './cell-text.ts';
import type { ColumnLayout } from './column-layout.ts';
import type { Cell, GridColumn } from './grid-source.ts';

interface GridCell {
  readonly element: HTMLElement;
  readonly text: Text;
  /** The shown text with hidden characters: then elements replace `text`. */
  revealed?: string | undefined;
  className: string;
}

export interface CellMarks {
  isSelected(row: number, column: number): boolean;
  /** The id of a cell where it is the active one. */
  activeId(row: number, column: number): string | undefined;
}

/** An element for one row at a time. Unchanged parts are not written to the document again. */
export class GridRow {
  readonly element: HTMLElement;
  index = -1;
  isPending = true;
  readonly #number: Text;
  readonly #cells = new Map<number, GridCell>();
  readonly #spare: GridCell[] = [];
  #top = Number.NaN;

  constructor() {
    this.element = createElement('grid-row', 'row');
    const number = createElement('grid-row-number', 'rowheader');
    number.setAttribute('aria-colindex', '1');
    this.#number = number.appendChild(document.createTextNode(''));
    this.element.append(number);
  }

  show(index: number): void {
    if (this.index === index) return;
    this.index = index;
    this.element.setAttribute('aria-rowindex', String(index + 2));
    this.element.classList.toggle('odd', index % 2 === 1);
    this.#number.data = formatCount(index + 1);
  }

  place(top: number): void {
    if (this.#top === top) return;
    this.#top = top;
    this.element.style.top = `${top}px`;
  }

  /** Makes cells for columns [first, end); new ones are empty. */
  showColumns(first: number, end: number, layout: ColumnLayout): void {
    for (const [column, cell] of this.#cells) {
      if (column >= first && column < end) continue;
      this.#cells.delete(column);
      this.#spare.push(cell);
    }
    let next: HTMLElement | null = null;
    for (let column = end - 1; column >= first; column--) {
      let cell = this.#cells.get(column);
      if (cell === undefined) {
        cell = this.#spare.pop() ?? createCell();
        cell.element.setAttribute('aria-colindex', String(column + 2));
        this.#cells.set(column, cell);
        placeCell(cell.element, column, layout);
        this.element.insertBefore(cell.element, next);
      }
      next = cell.element;
    }
    for (const { element } of this.#spare.splice(0)) element.remove();
  }

  placeColumns(layout: ColumnLayout): void {
    for (const [column, { element }] of this.#cells) placeCell(element, column, layout);
  }

  fill(row: readonly Cell[] | undefined, columns: readonly GridColumn[], marks: CellMarks): void {
    this.isPending = row === undefined || [...this.#cells.keys()].some((index) => row[index] === undefined);
    if (this.isPending) this.element.setAttribute('aria-busy', 'true');
    else this.element.removeAttribute('aria-busy');
    for (const [index, cell] of this.#cells) {
      const column = columns[index];
      if (column === undefined) continue;
      const value = row?.[index];
      const text = value === undefined ? '' : shownText(value, column);
      showText(cell, text);
      this.#mark(cell, index, cellClass(value, column), marks);
    }
  }

  /** After the selection has changed. */
  mark(row: readonly Cell[] | undefined, columns: readonly GridColumn[], marks: CellMarks): void {
    for (const [index, cell] of this.#cells) {
      const column = columns[index];
      if (column === undefined) continue;
      const value = row?.[index];
      this.#mark(cell, index, cellClass(value, column), marks);
    }
  }

  #mark(cell: GridCell, column: number, base: string, marks: CellMarks): void {
    const isSelected = marks.isSelected(this.index, column);
    const id = marks.activeId(this.index, column);
    const className = `${base}${isSelected ? ' selected' : ''}${id === undefined ? '' : ' active'}`;
    if (cell.element.id !== (id ?? '')) {
      if (id === undefined) cell.element.removeAttribute('id');
      else cell.element.id = id;
    }
    if (cell.className === className) return;
    cell.className = className;
    cell.element.className = className;
    cell.element.setAttribute('aria-selected', String(isSelected));
  }
}

function showText(cell: GridCell, text: string): void {
  const parts = textParts(text);
  if (parts.some(({ sign }) => sign !== undefined)) {
    if (cell.revealed !== text) cell.element.replaceChildren(...parts.map(partNode));
    cell.revealed = text;
    return;
  }
  if (cell.revealed !== undefined) cell.element.replaceChildren(cell.text);
  cell.revealed = undefined;
  if (cell.text.data !== text) cell.text.data = text;
}

/** As `RevealedText` renders it. */
export function partNode({ text, sign }: TextPart): Node {
  if (sign === undefined) return document.createTextNode(text);
  const element = document.createElement('bdi');
  element.className = 'hidden-character';
  element.dataset.sign = sign;
  element.textContent = text;
  return element;
}

function createCell(): GridCell {
  const element = createElement('', 'gridcell');
  return { element, text: element.appendChild(document.createTextNode('')), className: '' };
}

export function createElement(className: string, role?: string): HTMLElement {
  const element = document.createElement('div');
  element.className = className;
  if (role !== undefined) element.setAttribute('role', role);
  return element;
}

/** The row numbers are before the first column. */
export function placeCell(element: HTMLElement, column: number, layout: ColumnLayout): void {
  element.style.left = `calc(var(--grid-number-width) + ${layout.left(column)}px)`;
  element.style.width = `${layout.width(column)}px`;
}
