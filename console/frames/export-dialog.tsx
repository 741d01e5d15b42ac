import { useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { downloadFile } from '../api/download.ts';
import { type ExportFormat, exportFormats } from '../api/export-formats.ts';
import { place } from '../navigation/route.ts';
import { copyText } from '../widgets/clipboard.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { formatCount, formatCountOf } from '../widgets/format.ts';
import { notify } from '../widgets/notices.tsx';
import { exportPath } from './export-link.ts';
import type { Frame } from './frame.ts';
import { parseColumnNames } from './rows/column-names.ts';

export interface ExportDialogProps {
  readonly frame: Frame;
  /** Cells that are proposed: rows [from, to), counted from 0. */
  readonly selection?: { readonly from: number; readonly to: number; readonly columns: readonly string[] } | undefined;
  readonly onClose: () => void;
}

/** A frame, or rows and columns of it, as a file. */
export function ExportDialog({ frame, selection, onClose }: ExportDialogProps) {
  const rowCount = frame.rows ?? 0;
  const chosen = selection?.columns ?? parseColumnNames(place.value.parameters.get('columns') ?? '');
  const [format, setFormat] = useState<ExportFormat>('parquet');
  const [isChosenOnly, setChosenOnly] = useState(chosen.length > 0);
  const [range, setRange] = useState<{ readonly first: string; readonly last: string }>({
    first: selection === undefined ? '' : String(selection.from + 1),
    last: selection === undefined ? '' : String(selection.to),
  });
  const [escapeFormulas, setEscapeFormulas] = useState(true);
  const [error, setError] = useState<unknown>();
  const rows = rowsOf(range, rowCount);
  const isText = format === 'csv' || format === 'tsv';
  const columns = isChosenOnly ? chosen : [];
  const path =
    rows === 'wrong' ? undefined : exportPath({ handle: frame.handle, format, columns, rows, escapeFormulas });
  const download = async (): Promise<void> => {
    if (path === undefined) return;
    try {
      await downloadFile(path);
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title={`Export ${frame.handle}`} onClose={onClose}>
      <form
        class="export-form"
        onSubmit={(event) => {
          event.preventDefault();
          void download();
        }}
      >
        <label class="field">
          <span>Format</span>
          <select
            class="input"
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value as ExportFormat)}
          >
            {Object.entries(exportFormats).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <fieldset class="option-group row-range">
          <legend>Rows, from 1 to {formatCount(rowCount)}; all where nothing is given</legend>
          {(['first', 'last'] as const).map((edge) => (
            <label key={edge} class="field">
              <span>{edge === 'first' ? 'First row' : 'Last row'}</span>
              <input
                class="input"
                type="text"
                inputMode="numeric"
                value={range[edge]}
                aria-invalid={rows === 'wrong'}
                onInput={(event) => setRange({ ...range, [edge]: event.currentTarget.value })}
              />
            </label>
          ))}
        </fieldset>
        {chosen.length > 0 && (
          <label class="option">
            <input
              type="checkbox"
              checked={isChosenOnly}
              onChange={(event) => setChosenOnly(event.currentTarget.checked)}
            />
            Only the {formatCountOf(chosen.length, 'column')} {selection === undefined ? 'shown' : 'selected'}
          </label>
        )}
        {isText && (
          <label class="option">
            <input
              type="checkbox"
              checked={escapeFormulas}
              onChange={(event) => setEscapeFormulas(event.currentTarget.checked)}
            />
            Escape formulas: an apostrophe before text that a spreadsheet would run
          </label>
        )}
        {error !== undefined && (
          <p class="error" role="alert">
            {messageOf(error)}
          </p>
        )}
        <div class="dialog-actions">
          <button
            type="button"
            class="button"
            disabled={path === undefined}
            onClick={() => notify(copyText(`${location.origin}${path}`) ? 'Copied the link' : 'It could not be copied')}
          >
            Copy link
          </button>
          <button type="submit" class="button primary" disabled={path === undefined}>
            Download
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** undefined: all of them. */
function rowsOf(
  { first, last }: { readonly first: string; readonly last: string },
  rowCount: number,
): { from: number; to: number } | undefined | 'wrong' {
  if (first.trim() === '' && last.trim() === '') return undefined;
  const number = (text: string, otherwise: number): number =>
    text.trim() === '' ? otherwise : Number(text.replace(/[\s,_']/g, ''));
  const [from, to] = [number(first, 1) - 1, number(last, rowCount)];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from < to ? { from, to } : 'wrong';
}
