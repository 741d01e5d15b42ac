import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../api/api-error.ts';
import { copyText } from '../widgets/clipboard.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { ErrorMessage } from '../widgets/error-message.tsx';
import { Check, escapeFormulasText } from '../widgets/fields.tsx';
import { formatCount, formatCountOf } from '../widgets/format.ts';
import { notify } from '../widgets/notices.tsx';
import type { CellRange } from './cell-selection.ts';
import { type CopyFormat, copyFormats, formatCells } from './copy-format.ts';
import { copyOptions, maxCopiedCells } from './copy-options.ts';
import type { Cell, GridSource } from './grid-source.ts';

const cellsOfRequest = 100_000;

export interface CopyDialogProps {
  readonly source: GridSource;
  readonly range: CellRange;
  readonly onClose: () => void;
}

/** Copies cells that are not all loaded, or in another format. */
export function CopyDialog({ source, range: asked, onClose }: CopyDialogProps) {
  const options = copyOptions.value;
  const [rows, setRows] = useState<readonly (readonly Cell[])[]>([]);
  const [error, setError] = useState<unknown>();
  const columns = source.columns.slice(asked.firstColumn, asked.lastColumn + 1);
  const askedRows = asked.lastRow - asked.firstRow + 1;
  const rowCount = Math.min(askedRows, Math.max(1, Math.floor(maxCopiedCells / columns.length)));
  const { firstRow, firstColumn, lastColumn } = asked;
  const isReady = rows.length === rowCount;
  useEffect(() => {
    const abort = new AbortController();
    loadRows(source, { ...asked, lastRow: firstRow + rowCount - 1 }, abort.signal, setRows).catch(
      (failure: unknown) => {
        if (!isAbort(failure)) setError(failure);
      },
    );
    return () => abort.abort();
  }, [source, firstRow, rowCount, firstColumn, lastColumn]);
  const copy = (): void => {
    if (!copyText(formatCells(columns, rows, options))) {
      notify('The browser did not let it be copied', { isError: true });
      return;
    }
    notify(`Copied ${formatCount(rowCount)} × ${formatCount(columns.length)} cells`);
    onClose();
  };
  return (
    <Dialog title="Copy" onClose={onClose}>
      <p class="muted">
        {rowCount < askedRows && 'The first '}
        {formatCountOf(rowCount, 'row')} × {formatCountOf(columns.length, 'column')}
        {rowCount < askedRows && ` of ${formatCount(askedRows)} rows: an export has all of them`}
      </p>
      <fieldset class="option-group">
        <legend>Format</legend>
        {(Object.keys(copyFormats) as CopyFormat[]).map((format) => (
          <label key={format} class="option">
            <input
              type="radio"
              name="copy-format"
              checked={options.format === format}
              onChange={() => {
                copyOptions.value = { ...options, format };
              }}
            />
            {copyFormats[format]}
          </label>
        ))}
      </fieldset>
      <Check
        isChecked={options.hasHeader}
        isDisabled={options.format === 'markdown'}
        onChange={(hasHeader) => {
          copyOptions.value = { ...options, hasHeader };
        }}
      >
        With the names of the columns
      </Check>
      <Check
        isChecked={options.escapeFormulas}
        onChange={(escapeFormulas) => {
          copyOptions.value = { ...options, escapeFormulas };
        }}
      >
        {escapeFormulasText}
      </Check>
      <ErrorMessage error={error} />
      <div class="dialog-actions">
        {!isReady && error === undefined && <progress aria-label="Rows loaded" max={rowCount} value={rows.length} />}
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" disabled={!isReady} onClick={copy}>
          Copy
        </button>
      </div>
    </Dialog>
  );
}

async function loadRows(
  source: GridSource,
  range: CellRange,
  signal: AbortSignal,
  onRows: (rows: readonly (readonly Cell[])[]) => void,
): Promise<void> {
  const loaded: (readonly Cell[])[] = [];
  const rowsOfRequest = Math.max(1, Math.floor(cellsOfRequest / source.columns.length));
  while (loaded.length <= range.lastRow - range.firstRow) {
    const from = range.firstRow + loaded.length;
    const rows = await rangeRows(source, range, from, Math.min(from + rowsOfRequest, range.lastRow + 1), signal);
    if (rows.length === 0) throw new Error('the table has fewer rows by now');
    loaded.push(...rows);
    onRows([...loaded]);
  }
}

/** The columns of the range, of rows [from, to). */
async function rangeRows(
  { rows, blocks }: GridSource,
  { firstColumn, lastColumn }: CellRange,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<readonly (readonly Cell[])[]> {
  if (blocks === undefined) {
    return (await rows(from, to, signal)).map((row) => row.slice(firstColumn, lastColumn + 1));
  }
  const firstBlock = Math.floor(firstColumn / blocks.columns);
  let joined: readonly (readonly Cell[])[] | undefined;
  for (let block = firstBlock; block * blocks.columns <= lastColumn; block++) {
    const part = await blocks.rows(block, from, to, signal);
    joined = joined?.map((row, index) => [...row, ...(part[index] ?? [])]) ?? part;
  }
  const skipped = firstBlock * blocks.columns;
  return (joined ?? []).map((row) => row.slice(firstColumn - skipped, lastColumn + 1 - skipped));
}
