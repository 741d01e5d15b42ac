import { revealedText, textParts } from '../widgets/hidden-characters.ts';
import { isNumeric } from './cell-text.ts';
import type { ColumnLayout } from './column-layout.ts';
import { type CellMarks, createElement, partNode, placeCell } from './grid-row.ts';
import type { GridColumn } from './grid-source.ts';

/** The names and types of the columns, which stay above the rows. */
export class GridHeader {
  readonly element = createElement('grid-head', 'row');
  readonly #columns: readonly GridColumn[];
  readonly #cells = new Map<number, HTMLElement>();

  constructor(columns: readonly GridColumn[]) {
    this.#columns = columns;
    this.element.setAttribute('aria-rowindex', '1');
    const corner = createElement('grid-corner', 'columnheader');
    corner.setAttribute('aria-colindex', '1');
    corner.textContent = '#';
    corner.setAttribute('aria-label', 'Row number');
    this.element.append(corner);
  }

  showColumns(first: number, end: number, layout: ColumnLayout): void {
    for (const [column, element] of this.#cells) {
      if (column >= first && column < end) continue;
      this.#cells.delete(column);
      element.remove();
    }
    let next: HTMLElement | null = null;
    for (let column = end - 1; column >= first; column--) {
      let element = this.#cells.get(column);
      if (element === undefined) {
        element = this.#createCell(column);
        this.#cells.set(column, element);
        placeCell(element, column, layout);
        this.element.insertBefore(element, next);
      }
      next = element;
    }
  }

  placeColumns(layout: ColumnLayout): void {
    for (const [column, element] of this.#cells) placeCell(element, column, layout);
  }

  mark(marks: CellMarks): void {
    for (const [column, element] of this.#cells) {
      const id = marks.activeId(-1, column);
      element.classList.toggle('active', id !== undefined);
      if (id === undefined) element.removeAttribute('id');
      else element.id = id;
    }
  }

  #createCell(index: number): HTMLElement {
    const column = this.#columns[index];
    const element = createElement('grid-head-cell', 'columnheader');
    if (column === undefined) return element;
    element.classList.toggle('number', isNumeric(column));
    element.setAttribute('aria-colindex', String(index + 2));
    element.dataset.column = String(index);
    element.title = `${revealedText(column.name)} · ${column.type}`;
    const name = element.appendChild(createElement('grid-name'));
    name.append(...textParts(column.name).map(partNode));
    const type = element.appendChild(createElement('grid-type'));
    type.textContent = column.type;
    const edge = element.appendChild(createElement('grid-resize'));
    edge.setAttribute('aria-hidden', 'true');
    return element;
  }
}
