import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { downloadFile } from '../api/download.ts';
import {
  canEscapeFormulas,
  type ExportFormat,
  type ExportSource,
  exportFormats,
  exportPath,
  formatsOf,
} from '../api/export-path.ts';
import { copyText } from './clipboard.ts';
import { ErrorMessage } from './error-message.tsx';
import { Check, Choice, escapeFormulasText } from './fields.tsx';
import { FormDialog } from './form-dialog.tsx';
import { notify } from './notices.tsx';

export interface ExportDialogProps {
  readonly title: string;
  readonly source: ExportSource;
  /** Whether a field has no meaning yet. */
  readonly isWrong?: boolean;
  /** Shown if the request would be too long. */
  readonly tooLongText: string;
  readonly hasLink?: boolean;
  readonly onClose: () => void;
  /** Fields below the format. */
  readonly children?: ComponentChildren;
}

/** Rows as a file. */
export function ExportDialog({
  title,
  source,
  isWrong = false,
  tooLongText,
  hasLink = false,
  onClose,
  children,
}: ExportDialogProps) {
  const [format, setFormat] = useState<ExportFormat>('parquet');
  const [escapeFormulas, setEscapeFormulas] = useState(true);
  const [error, setError] = useState<unknown>();
  const path = exportPath(source, { format, escapeFormulas });
  const isDisabled = isWrong || path === undefined;
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
    <FormDialog
      title={title}
      action="Download"
      isDisabled={isDisabled}
      onSubmit={() => void download()}
      onClose={onClose}
      actions={
        hasLink && (
          <button
            type="button"
            class="button"
            disabled={isDisabled}
            onClick={() => notify(copyText(`${location.origin}${path}`) ? 'Copied the link' : 'It could not be copied')}
          >
            Copy link
          </button>
        )
      }
    >
      <Choice
        label="Format"
        value={format}
        options={formatsOf(source).map((name) => [name, exportFormats[name]])}
        onChange={(name) => setFormat(name as ExportFormat)}
      />
      {children}
      {canEscapeFormulas(source, format) && (
        <Check isChecked={escapeFormulas} onChange={setEscapeFormulas}>
          {escapeFormulasText}
        </Check>
      )}
      {path === undefined && <p class="error">{tooLongText}</p>}
      <ErrorMessage error={error} />
    </FormDialog>
  );
}
