import { useState } from 'preact/hooks';
import { parseColumnNames } from '../../api/column-names.ts';
import type { FrameExport } from '../../api/export-path.ts';
import { place } from '../../navigation/route.ts';
import { ExportDialog } from '../../widgets/export-dialog.tsx';
import { Check } from '../../widgets/fields.tsx';
import { formatCount, formatCountOf } from '../../widgets/format.ts';
import type { Frame } from '../frame.ts';

export interface FrameExportDialogProps {
  readonly frame: Frame;
  /** Cells that are proposed: rows [from, to), counted from 0. */
  readonly selection?: { readonly from: number; readonly to: number; readonly columns: readonly string[] } | undefined;
  readonly onClose: () => void;
}

/** A frame, or rows and columns of it, as a file. */
export function FrameExportDialog({ frame, selection, onClose }: FrameExportDialogProps) {
  const rowCount = frame.rows ?? 0;
  const chosen = selection?.columns ?? parseColumnNames(place.value.parameters.get('columns') ?? '');
  const [isChosenOnly, setChosenOnly] = useState(chosen.length > 0);
  const [range, setRange] = useState<{ readonly first: string; readonly last: string }>({
    first: selection === undefined ? '' : String(selection.from + 1),
    last: selection === undefined ? '' : String(selection.to),
  });
  const rows = rowsOf(range, rowCount);
  const columns = isChosenOnly ? chosen : [];
  return (
    <ExportDialog
      title={`Export ${frame.handle}`}
      source={{ handle: frame.handle, columns, rows: rows === 'wrong' ? undefined : rows }}
      isWrong={rows === 'wrong'}
      tooLongText="The names of the columns are too long for a link: choose fewer of them."
      hasLink
      onClose={onClose}
    >
      <fieldset class="option-group row-range">
        <legend>Rows, from 1 to {formatCount(rowCount)}; all rows where both are empty</legend>
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
        <Check isChecked={isChosenOnly} onChange={setChosenOnly}>
          Only the {formatCountOf(chosen.length, 'column')} {selection === undefined ? 'shown' : 'selected'}
        </Check>
      )}
    </ExportDialog>
  );
}

/** undefined: all of them. */
function rowsOf(
  { first, last }: { readonly first: string; readonly last: string },
  rowCount: number,
): FrameExport['rows'] | 'wrong' {
  if (first.trim() === '' && last.trim() === '') return undefined;
  const number = (text: string, otherwise: number): number =>
    text.trim() === '' ? otherwise : Number(text.replace(/[\s,_']/g, ''));
  const [from, to] = [number(first, 1) - 1, number(last, rowCount)];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from < to ? { from, to } : 'wrong';
}
