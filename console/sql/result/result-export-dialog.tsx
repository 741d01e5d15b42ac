import { useState } from 'preact/hooks';
import { messageOf } from '../../api/api-error.ts';
import { downloadFile } from '../../api/download.ts';
import { type ExportFormat, exportFormats } from '../../api/export-formats.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { formatsOf, type ResultExport, resultExportPath } from './result-export.ts';

const allFormats = Object.keys(exportFormats) as ExportFormat[];

/** All rows of a result as a file. */
export function ResultExportDialog({ from, onClose }: Pick<ResultExport, 'from'> & { readonly onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>('parquet');
  const [escapeFormulas, setEscapeFormulas] = useState(true);
  const [error, setError] = useState<unknown>();
  const path = resultExportPath({ from, format, escapeFormulas });
  const engine = 'engine' in from ? from.engine : 'local';
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
    <Dialog title="Export all rows" onClose={onClose}>
      <form
        class="sql-name"
        onSubmit={(event) => {
          event.preventDefault();
          void download();
        }}
      >
        {'sql' in from && <p>The statement runs once more, and its rows go into the file.</p>}
        <label class="field">
          <span>Format</span>
          <select
            class="input"
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value as ExportFormat)}
          >
            {formatsOf(engine, allFormats).map((name) => (
              <option key={name} value={name}>
                {exportFormats[name]}
              </option>
            ))}
          </select>
        </label>
        {(format === 'csv' || format === 'tsv') && engine !== 'tsdb' && (
          <label class="check">
            <input
              type="checkbox"
              checked={escapeFormulas}
              onChange={(event) => setEscapeFormulas(event.currentTarget.checked)}
            />
            Escape formulas: an apostrophe before text that a spreadsheet would run
          </label>
        )}
        {path === undefined && (
          <p class="error">The statement is too long for a link: keep all rows as a frame first.</p>
        )}
        {error !== undefined && (
          <p class="error" role="alert">
            {messageOf(error)}
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={path === undefined}>
            Download
          </button>
        </div>
      </form>
    </Dialog>
  );
}
