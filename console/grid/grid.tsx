import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { formatCount } from '../widgets/format.ts';
import { notify } from '../widgets/notices.tsx';
import type { CellAddress, CellRange } from './cell-selection.ts';
import { selectionAt } from './cell-selection.ts';
import { CellViewer } from './cell-viewer.tsx';
import { CopyDialog } from './copy-dialog.tsx';
import { formatCells } from './copy-format.ts';
import { copyOptions } from './copy-options.ts';
import { GoToRowDialog } from './go-to-row-dialog.tsx';
import { attachPointer } from './grid-pointer.ts';
import type { Cell, GridSource } from './grid-source.ts';
import { GridViewport } from './grid-viewport.ts';

export interface GridHandle {
  /** Counted from 0. */
  goToRow(row: number): void;
  focus(): void;
  selectedRange(): CellRange | undefined;
}

export interface GridProps {
  readonly source: GridSource;
  /** Description of the table for screen readers. */
  readonly label: string;
  /** The first row that is shown, counted from 0. */
  readonly firstRow?: number;
  /** When scrolling has ended: the first row that is seen whole, counted from 0. */
  readonly onVisible?: (row: number) => void;
  readonly onSelect?: (range: CellRange | undefined) => void;
  /** Called with the grid when it exists, and with null when it does not any more. */
  readonly handle?: (handle: GridHandle | null) => void;
  /** Replaces the message about rows that cannot be read. */
  readonly renderError?: (error: unknown) => ComponentChildren;
  /** Behind the buttons below the rows. */
  readonly footer?: ComponentChildren;
}

type OpenDialog =
  | { readonly kind: 'cell'; readonly cell: Cell; readonly address: CellAddress }
  | { readonly kind: 'copy'; readonly range: CellRange }
  | { readonly kind: 'row' };

/** A table of any number of rows and columns. */
export function Grid({ source, label, firstRow, onVisible, onSelect, handle, renderError, footer }: GridProps) {
  const root = useRef<HTMLDivElement>(null);
  const viewport = useRef<GridViewport | undefined>(undefined);
  const latest = useRef({ onVisible, onSelect, firstRow });
  latest.current = { onVisible, onSelect, firstRow };
  const [visible, setVisible] = useState<{ readonly first: number; readonly end: number }>();
  const [range, setRange] = useState<CellRange>();
  const [error, setError] = useState<unknown>();
  const [dialog, setDialog] = useState<OpenDialog>();
  /** Used once its dialog is gone: until then, nothing behind the dialog takes the focus. */
  const wantedRow = useRef<number | undefined>(undefined);
  const rowCount = source.rowCount.value;

  // A source with the same key is the same table.
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return undefined;
    setError(undefined);
    setRange(undefined);
    const shown = new GridViewport(
      element,
      source,
      {
        onSettle: (first, end) => {
          setVisible({ first, end });
          latest.current.onVisible?.(first);
        },
        onSelect: (selected) => {
          setRange(selected);
          latest.current.onSelect?.(selected);
        },
        onError: setError,
      },
      latest.current.firstRow,
    );
    viewport.current = shown;
    const detach = attachPointer(element, shown, () => source.rowCount.peek() - 1);
    return () => {
      viewport.current = undefined;
      detach();
      shown.dispose();
    };
  }, [source.key]);

  useEffect(() => {
    if (handle === undefined) return undefined;
    handle({
      goToRow,
      focus: () => root.current?.focus(),
      selectedRange: () => viewport.current?.range,
    });
    return () => handle(null);
  }, [handle]);

  const goToRow = (row: number): void => {
    const shown = viewport.current;
    if (shown === undefined) return;
    shown.goToRow(row, { isAtTop: true });
    shown.select(selectionAt(shown.clampRow(row), shown.selection.active.column));
    root.current?.focus({ preventScroll: true });
  };
  const openCell = (): void => {
    const address = viewport.current?.selection.active;
    if (address === undefined || address.row < 0) return;
    const cell = viewport.current?.pages.row(address.row)?.[address.column];
    if (cell !== undefined) setDialog({ kind: 'cell', cell, address });
  };
  const openCopy = (): void => {
    const selected = viewport.current?.range ?? {
      firstRow: 0,
      lastRow: source.rowCount.peek() - 1,
      firstColumn: 0,
      lastColumn: source.columns.length - 1,
    };
    setDialog({ kind: 'copy', range: selected });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const shown = viewport.current;
    if (shown === undefined || event.altKey) return;
    const isCtrl = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter') openCell();
    else if (event.key === 'F2') openCell();
    else if (isCtrl && event.key.toLowerCase() === 'g') setDialog({ kind: 'row' });
    else if (event.key === 'Escape') {
      const { row, column } = shown.selection.active;
      shown.select(selectionAt(row, column), { isScrolled: false });
    } else if (!shown.press(event)) return;
    event.preventDefault();
  };
  const onCopy = (event: ClipboardEvent): void => {
    const selected = viewport.current?.range;
    if (selected === undefined) return;
    event.preventDefault();
    const rows = loadedRows(viewport.current, selected);
    if (rows === undefined) {
      setDialog({ kind: 'copy', range: selected });
      return;
    }
    const columns = source.columns.slice(selected.firstColumn, selected.lastColumn + 1);
    const isSingle = rows.length === 1 && columns.length === 1;
    const { escapeFormulas } = copyOptions.value;
    const options = { format: 'tsv', hasHeader: false } as const;
    const text = formatCells(columns, rows, { ...options, escapeFormulas });
    event.clipboardData?.setData('text/plain', text);
    const isEscaped = escapeFormulas && text !== formatCells(columns, rows, { ...options, escapeFormulas: false });
    const what = isSingle
      ? 'Copied the cell'
      : `Copied ${formatCount(rows.length)} × ${formatCount(columns.length)} cells`;
    notify(isEscaped ? `${what}; text that a spreadsheet would run has an apostrophe before it` : what);
  };
  // The browser returns the focus to the element that had it before the dialog.
  const close = (): void => setDialog(undefined);
  useLayoutEffect(() => {
    if (dialog !== undefined || wantedRow.current === undefined) return;
    goToRow(wantedRow.current);
    wantedRow.current = undefined;
  }, [dialog]);
  const rows = describeRows(visible, rowCount);
  return (
    <div class="grid-frame">
      {error !== undefined && (
        <div class="bar error" role="alert">
          {renderError?.(error) ?? (
            <>
              <span>{messageOf(error)}</span>
              <button type="button" class="button" onClick={() => viewport.current?.pages.retry()}>
                Try again
              </button>
            </>
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot have only some of its rows */}
      <div
        ref={root}
        class="grid"
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-multiselectable="true"
        onKeyDown={onKeyDown}
        onCopy={onCopy}
        onDblClick={(event) => {
          if (event.target instanceof Element && event.target.closest('.grid-cell') !== null) openCell();
        }}
      />
      <div class="grid-foot">
        <span role="status" aria-live="polite">
          {rows}
        </span>
        <span class="muted">{describeRange(range)}</span>
        <span class="grid-actions">
          {footer}
          <button type="button" class="link-button" title="Ctrl+G" onClick={() => setDialog({ kind: 'row' })}>
            Go to row
          </button>
          <button type="button" class="link-button" disabled={rowCount === 0} onClick={openCopy}>
            Copy as …
          </button>
        </span>
      </div>
      {dialog?.kind === 'cell' && (
        <CellViewer
          cell={dialog.cell}
          column={source.columns[dialog.address.column] ?? { name: '', type: '' }}
          row={dialog.address.row}
          onClose={close}
        />
      )}
      {dialog?.kind === 'copy' && <CopyDialog source={source} range={dialog.range} onClose={close} />}
      {dialog?.kind === 'row' && (
        <GoToRowDialog
          rowCount={rowCount}
          onClose={close}
          onGo={(row) => {
            wantedRow.current = row;
            close();
          }}
        />
      )}
    </div>
  );
}

function loadedRows(viewport: GridViewport | undefined, range: CellRange): (readonly Cell[])[] | undefined {
  const rows: (readonly Cell[])[] = [];
  for (let index = range.firstRow; index <= range.lastRow; index++) {
    const row = viewport?.pages.row(index);
    if (row?.[range.lastColumn] === undefined) return undefined;
    const cells = row.slice(range.firstColumn, range.lastColumn + 1);
    // Some blocks of its columns are missing.
    if ((cells as readonly unknown[]).includes(undefined)) return undefined;
    rows.push(cells);
  }
  return rows;
}

/** `visible`: undefined until the grid stops scrolling for the first time. */
function describeRows(visible: { readonly first: number; readonly end: number } | undefined, rowCount: number): string {
  if (rowCount === 0) return 'no rows';
  if (visible === undefined) return `${formatCount(rowCount)} ${rowCount === 1 ? 'row' : 'rows'}`;
  const { first, end } = visible;
  const last = Math.max(first + 1, Math.min(end, rowCount));
  return `rows ${formatCount(first + 1)} to ${formatCount(last)} of ${formatCount(rowCount)}`;
}

function describeRange(range: CellRange | undefined): string {
  if (range === undefined) return '';
  const rows = range.lastRow - range.firstRow + 1;
  const columns = range.lastColumn - range.firstColumn + 1;
  return rows === 1 && columns === 1 ? '' : `${formatCount(rows)} × ${formatCount(columns)} selected`;
}
