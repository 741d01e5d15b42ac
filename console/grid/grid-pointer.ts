import { selectionAt } from './cell-selection.ts';
import type { GridViewport } from './grid-viewport.ts';

const scrollStepPx = 30;

/** Selecting and resizing with a pointer. Returns a function that ends it. */
export function attachPointer(root: HTMLElement, viewport: GridViewport, lastRow: () => number): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const listen = { signal };
  root.addEventListener('pointerdown', (event) => onPointerDown(root, viewport, event, lastRow), listen);
  root.addEventListener(
    'dblclick',
    (event) => {
      const target = event.target instanceof Element ? event.target : undefined;
      if (target?.closest('.grid-resize')) viewport.fitColumn(columnOf(target));
    },
    listen,
  );
  return () => abort.abort();
}

function onPointerDown(root: HTMLElement, viewport: GridViewport, event: PointerEvent, lastRow: () => number): void {
  const target = event.target instanceof Element ? event.target : undefined;
  if (target === undefined || event.button !== 0) return;
  if (target.closest('.grid-resize')) {
    event.preventDefault();
    startResize(root, viewport, event, columnOf(target));
    return;
  }
  const head = target.closest('.grid-head-cell');
  if (head !== null) {
    const column = columnOf(head);
    const anchor = event.shiftKey ? viewport.selection.anchor.column : column;
    viewport.select({ active: { row: lastRow(), column }, anchor: { row: 0, column: anchor } }, { isScrolled: false });
    return;
  }
  if (target.closest('.grid-row') === null) return;
  const cell = viewport.cellAt(event.clientX, event.clientY);
  const { anchor } = viewport.selection;
  if (target.closest('.grid-row-number') !== null) {
    const last = Number(root.getAttribute('aria-colcount')) - 2;
    const first = event.shiftKey ? Math.max(0, anchor.row) : cell.row;
    viewport.select(
      { active: { row: cell.row, column: last }, anchor: { row: first, column: 0 } },
      { isScrolled: false },
    );
    return;
  }
  const isExtended = event.shiftKey && anchor.row >= 0;
  viewport.select(isExtended ? { active: cell, anchor } : selectionAt(cell.row, cell.column));
  // A finger scrolls.
  if (event.pointerType !== 'touch') startSelect(root, viewport, event);
}

function startSelect(root: HTMLElement, viewport: GridViewport, start: PointerEvent): void {
  let [x, y] = [start.clientX, start.clientY];
  let frame = 0;
  const extend = (): void => {
    const { active, anchor } = viewport.selection;
    const cell = viewport.cellAt(x, y);
    if (cell.row !== active.row || cell.column !== active.column) {
      viewport.select({ active: cell, anchor }, { isScrolled: false });
    }
  };
  const scroll = (): void => {
    const box = root.getBoundingClientRect();
    const beyond = (value: number, low: number, high: number): number =>
      value < low ? -scrollStepPx : value > high ? scrollStepPx : 0;
    const [left, top] = [beyond(x, box.left, box.right), beyond(y, box.top + 44, box.bottom)];
    if (left !== 0 || top !== 0) {
      root.scrollBy(left, top);
      extend();
    }
    frame = requestAnimationFrame(scroll);
  };
  frame = requestAnimationFrame(scroll);
  drag(
    root,
    start.pointerId,
    (event) => {
      [x, y] = [event.clientX, event.clientY];
      extend();
    },
    () => cancelAnimationFrame(frame),
  );
}

function startResize(root: HTMLElement, viewport: GridViewport, start: PointerEvent, column: number): void {
  const width = viewport.layout.width(column);
  drag(root, start.pointerId, (event) => viewport.resizeColumn(column, width + event.clientX - start.clientX));
}

function drag(root: HTMLElement, pointerId: number, onMove: (event: PointerEvent) => void, onEnd = () => {}): void {
  const abort = new AbortController();
  const end = (): void => {
    abort.abort();
    onEnd();
  };
  root.setPointerCapture(pointerId);
  root.addEventListener('pointermove', onMove, { signal: abort.signal });
  for (const type of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
    root.addEventListener(type, end, { signal: abort.signal });
  }
}

function columnOf(target: Element): number {
  const head = target.closest<HTMLElement>('.grid-head-cell');
  return Number(head?.dataset.column ?? 0);
}
