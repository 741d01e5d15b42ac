import { effect } from '@preact/signals';
import { formatCount } from '../widgets/format.ts';
import {
  type CellAddress,
  type CellRange,
  type CellSelection,
  isInRange,
  moveSelection,
  rangeOf,
  selectionAt,
} from './cell-selection.ts';
import { ColumnLayout } from './column-layout.ts';
import { fittedWidths } from './column-widths.ts';
import { GridHeader } from './grid-header.ts';
import { type CellMarks, createElement, GridRow } from './grid-row.ts';
import type { GridSource } from './grid-source.ts';
import { PageCache } from './page-cache.ts';
import { ScrollGeometry, type ScrollPosition } from './scroll-geometry.ts';

export const rowPx = 25;
export const headPx = 44;
/** Rows above and below that are in the document before they are seen. */
const overscanRows = 4;
const settleMs = 150;

export interface GridEvents {
  /** When scrolling has ended: rows [first, end) are seen whole. */
  onSettle(first: number, end: number): void;
  onSelect(range: CellRange | undefined, active: CellAddress): void;
  onError(error: unknown): void;
}

let lastId = 0;

/** The rows and columns of a table that are to be seen, in an element that scrolls. Plain DOM: a frame has 16 ms. */
export class GridViewport implements CellMarks {
  readonly pages: PageCache;
  readonly header: GridHeader;
  readonly #root: HTMLElement;
  readonly #source: GridSource;
  readonly #events: GridEvents;
  readonly #id = `grid${++lastId}`;
  readonly #canvas = createElement('grid-canvas');
  readonly #layer = createElement('grid-rows', 'rowgroup');
  readonly #rows = new Map<number, GridRow>();
  readonly #spare: GridRow[] = [];
  #layout: ColumnLayout;
  #geometry = new ScrollGeometry(0, 0);
  #position: ScrollPosition = { scrollTop: 0, offset: 0 };
  #visibleColumns = { first: 0, end: 0 };
  #selection: CellSelection = selectionAt(0, 0);
  #range: CellRange | undefined;
  #isFitted = false;
  #frame = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #viewport = { width: 0, height: 0 };
  readonly #resize: ResizeObserver;
  readonly #stopCounting: () => void;

  /** `root` is empty, and has the role grid. */
  constructor(root: HTMLElement, source: GridSource, events: GridEvents, firstRow = 0) {
    this.#root = root;
    this.#source = source;
    this.#events = events;
    this.header = new GridHeader(source.columns);
    this.#layout = new ColumnLayout(fittedWidths(source.columns, [], this.#fonts()));
    this.pages = new PageCache(source, {
      onRows: (from, to) => this.#onRows(from, to),
      onError: (error) => events.onError(error),
    });
    const head = createElement('grid-head-group', 'rowgroup');
    head.append(this.header.element);
    this.#canvas.append(head, this.#layer);
    root.replaceChildren(this.#canvas);
    root.setAttribute('aria-colcount', String(source.columns.length + 1));
    root.addEventListener('scroll', this.#onScroll, { passive: true });
    this.#stopCounting = effect(() => this.#onCount(source.rowCount.value));
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(root);
    this.#measure();
    if (firstRow > 0) {
      this.#selection = selectionAt(this.clampRow(firstRow), 0);
      this.goToRow(firstRow, { isAtTop: true });
    }
    this.#render();
  }

  dispose(): void {
    this.#root.removeEventListener('scroll', this.#onScroll);
    this.#stopCounting();
    this.#resize.disconnect();
    this.pages.dispose();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#settle);
    this.#root.replaceChildren();
  }

  get selection(): CellSelection {
    return this.#selection;
  }

  get range(): CellRange | undefined {
    return this.#range;
  }

  get layout(): ColumnLayout {
    return this.#layout;
  }

  /** Rows that fit in. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.#viewport.height / rowPx));
  }

  isSelected(row: number, column: number): boolean {
    return isInRange(this.#range, row, column);
  }

  activeId(row: number, column: number): string | undefined {
    const { active } = this.#selection;
    return active.row === row && active.column === column ? `${this.#id}-${row}-${column}` : undefined;
  }

  /** Scrolls no further than it has to, or brings the row to the top. */
  goToRow(row: number, { isAtTop = false } = {}): void {
    const top = this.clampRow(row) * rowPx;
    const { offset } = this.#position;
    if (isAtTop || top < offset) this.#moveTo(this.#geometry.at(top));
    else if (top + rowPx > offset + this.#viewport.height) {
      this.#moveTo(this.#geometry.at(top + rowPx - this.#viewport.height));
    }
  }

  select(selection: CellSelection, { isScrolled = true } = {}): void {
    this.#selection = selection;
    this.#range = rangeOf(selection);
    if (isScrolled) this.#reveal(selection.active);
    this.#remark();
    this.#events.onSelect(this.#range, selection.active);
  }

  /** Whether the key moves or selects. */
  press(event: KeyboardEvent): boolean {
    const stroke = { key: event.key, isCtrl: event.ctrlKey || event.metaKey, isShift: event.shiftKey };
    const { active } = this.#selection;
    if (active.row < 0 && stroke.isShift && /^Arrow(Left|Right)$/.test(stroke.key)) {
      this.resizeColumn(active.column, this.#layout.width(active.column) + (stroke.key === 'ArrowLeft' ? -16 : 16));
      return true;
    }
    const { rowCount, columns } = this.#source;
    const extent = { rowCount: rowCount.peek(), columnCount: columns.length, pageRows: this.pageRows };
    const next = moveSelection(this.#selection, stroke, extent);
    if (next === undefined) return false;
    this.select(next, { isScrolled: stroke.key !== 'a' && stroke.key !== ' ' });
    return true;
  }

  resizeColumn(column: number, px: number): void {
    this.#layout.resize(column, px);
    this.#placeColumns();
  }

  fitColumn(column: number): void {
    const rows = [...this.#rows.keys()].map((index) => this.pages.row(index)).filter((row) => row !== undefined);
    const name = this.#source.columns[column];
    if (name === undefined) return;
    const cells = rows.map((row) => [row[column] ?? null]);
    this.resizeColumn(column, fittedWidths([name], cells, this.#fonts())[0] ?? 0);
  }

  /** The cell below a place of the page; the nearest one where it is beside the table. */
  cellAt(clientX: number, clientY: number): CellAddress {
    const box = this.#root.getBoundingClientRect();
    const y = clientY - box.top - headPx + this.#position.offset;
    const x = clientX - box.left - this.#numberPx + this.#root.scrollLeft;
    return { row: this.clampRow(Math.floor(y / rowPx)), column: this.#layout.columnAt(x) };
  }

  get #numberPx(): number {
    return Math.max(44, Math.ceil(formatCount(this.#source.rowCount.peek()).length * 7.7 + 20));
  }

  /** The row of the table that is nearest. */
  clampRow(row: number): number {
    return Math.max(0, Math.min(Math.floor(row), this.#source.rowCount.peek() - 1));
  }

  #fonts(): { cell: string; name: string } {
    const { fontSize, fontFamily } = getComputedStyle(this.#root);
    return { cell: `${fontSize} ${fontFamily}`, name: `600 ${fontSize} ${fontFamily}` };
  }

  readonly #onScroll = (): void => {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#onFrame);
  };

  readonly #onFrame = (): void => {
    this.#frame = 0;
    const { scrollTop } = this.#root;
    const next = this.#geometry.scrolled(this.#position, scrollTop);
    if (Math.abs(next.scrollTop - scrollTop) > 1) this.#moveTo(next);
    else {
      this.#position = next;
      this.#render();
    }
  };

  /** A write to scrollTop is rounded: the next step counts from the browser's value. */
  #moveTo({ scrollTop, offset }: ScrollPosition): void {
    if (Math.abs(this.#root.scrollTop - scrollTop) > 0.5) this.#root.scrollTop = scrollTop;
    this.#position = { scrollTop: Math.min(Math.max(this.#root.scrollTop, 0), this.#geometry.maxScrollTop), offset };
    this.#render();
  }

  #onCount(rowCount: number): void {
    this.#root.setAttribute('aria-rowcount', String(rowCount + 1));
    this.#root.style.setProperty('--grid-number-width', `${this.#numberPx}px`);
    this.#update();
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#root;
    this.#viewport = { width: clientWidth, height: Math.max(0, clientHeight - headPx) };
    this.#update();
  }

  /** The table or the viewport is of another size. */
  #update(): void {
    this.#geometry = new ScrollGeometry(this.#source.rowCount.peek() * rowPx, this.#viewport.height);
    this.#canvas.style.height = `${this.#geometry.spacerPx + headPx}px`;
    this.#widen();
    this.#moveTo(this.#geometry.kept(this.#position));
  }

  #widen(): void {
    const px = this.#layout.totalPx + this.#numberPx;
    this.#canvas.style.width = `${px}px`;
    this.#root.classList.toggle('wide', px > this.#viewport.width);
  }

  #placeColumns(): void {
    this.#widen();
    this.header.placeColumns(this.#layout);
    for (const row of this.#rows.values()) row.placeColumns(this.#layout);
    this.#render();
  }

  #onRows(from: number, to: number): void {
    if (!this.#isFitted) {
      this.#isFitted = true;
      const rows = [];
      for (let index = from; index < to && rows.length < 60; index++) rows.push(this.pages.row(index) ?? []);
      this.#layout = new ColumnLayout(fittedWidths(this.#source.columns, rows, this.#fonts()));
      this.#placeColumns();
    }
    for (const row of this.#rows.values()) {
      if (row.isPending && row.index >= from && row.index < to) this.#fill(row);
    }
  }

  #render(): void {
    const { offset, scrollTop } = this.#position;
    const rowCount = this.#source.rowCount.peek();
    const firstSeen = Math.floor(offset / rowPx);
    const endSeen = Math.min(rowCount, Math.ceil((offset + this.#viewport.height) / rowPx));
    const first = Math.max(0, firstSeen - overscanRows);
    const end = Math.min(rowCount, endSeen + overscanRows);
    const hasOtherColumns = this.#renderColumns();
    for (const [index, row] of this.#rows) {
      if (index >= first && index < end) continue;
      this.#rows.delete(index);
      this.#spare.push(row);
    }
    if (endSeen > firstSeen) {
      this.pages.want(firstSeen, endSeen, this.#visibleColumns.first, this.#visibleColumns.end);
    }
    // Equal for all small steps: then only rows that are new are placed.
    const shift = scrollTop - offset;
    for (let index = first; index < end; index++) {
      let row = this.#rows.get(index);
      const isNew = row === undefined;
      row ??= this.#spare.pop() ?? this.#addRow();
      this.#rows.set(index, row);
      row.place(Math.round(index * rowPx + shift));
      if (!isNew && !hasOtherColumns) continue;
      row.show(index);
      row.showColumns(this.#visibleColumns.first, this.#visibleColumns.end, this.#layout);
      this.#fill(row);
    }
    for (const { element } of this.#spare.splice(0)) element.remove();
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#onSettled(), settleMs);
  }

  /** Whether they are others than before. */
  #renderColumns(): boolean {
    const { first, end } = this.#layout.visible(this.#root.scrollLeft, this.#viewport.width - this.#numberPx);
    const last = this.#visibleColumns;
    if (first === last.first && end === last.end) return false;
    this.#visibleColumns = { first, end };
    this.header.showColumns(first, end, this.#layout);
    this.header.mark(this);
    return true;
  }

  #addRow(): GridRow {
    const row = new GridRow();
    this.#layer.append(row.element);
    return row;
  }

  #fill(row: GridRow): void {
    row.fill(this.pages.row(row.index), this.#source.columns, this);
    if (row.index === this.#selection.active.row) this.#tellActive();
  }

  #remark(): void {
    this.header.mark(this);
    for (const row of this.#rows.values()) row.mark(this.pages.row(row.index), this.#source.columns, this);
    this.#tellActive();
  }

  #tellActive(): void {
    const { row, column } = this.#selection.active;
    const { first, end } = this.#visibleColumns;
    const isShown = (row < 0 || this.#rows.has(row)) && column >= first && column < end;
    if (isShown) this.#root.setAttribute('aria-activedescendant', `${this.#id}-${row}-${column}`);
    else this.#root.removeAttribute('aria-activedescendant');
  }

  #reveal({ row, column }: CellAddress): void {
    const [left, right] = [this.#layout.left(column), this.#layout.left(column + 1)];
    const width = this.#viewport.width - this.#numberPx;
    const { scrollLeft } = this.#root;
    if (left < scrollLeft) this.#root.scrollLeft = left;
    else if (right > scrollLeft + width) this.#root.scrollLeft = Math.min(left, right - width);
    if (row >= 0) this.goToRow(row);
    this.#render();
  }

  #onSettled(): void {
    // For screen readers, which read the document in its order.
    const ordered = [...this.#rows.values()]
      .sort((one, other) => one.index - other.index)
      .map(({ element }) => element);
    if (ordered.some((element, index) => this.#layer.children[index] !== element))
      this.#layer.replaceChildren(...ordered);
    this.#tellActive();
    const { offset } = this.#position;
    const rowCount = this.#source.rowCount.peek();
    const first = Math.min(Math.ceil(offset / rowPx), Math.max(0, rowCount - 1));
    this.#events.onSettle(first, Math.min(rowCount, Math.floor((offset + this.#viewport.height) / rowPx)));
  }
}
