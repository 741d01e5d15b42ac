import { useState } from 'preact/hooks';
import { Dialog } from '../widgets/dialog.tsx';
import { formatCount } from '../widgets/format.ts';

export interface GoToRowDialogProps {
  readonly rowCount: number;
  /** Counted from 0. */
  readonly onGo: (row: number) => void;
  readonly onClose: () => void;
}

export function GoToRowDialog({ rowCount, onGo, onClose }: GoToRowDialogProps) {
  const [text, setText] = useState('');
  const row = parseRow(text, rowCount);
  return (
    <Dialog title="Go to row" onClose={onClose}>
      <form
        class="go-to-row"
        onSubmit={(event) => {
          event.preventDefault();
          if (row !== undefined) onGo(row);
        }}
      >
        <label class="field">
          <span>Row, from 1 to {formatCount(rowCount)}; also from the end (-1) or a share of the table (50%)</span>
          <input
            class="input"
            type="text"
            inputMode="numeric"
            autoFocus
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="dialog-actions">
          <button type="submit" class="button primary" disabled={row === undefined}>
            Go
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The row that a person means, counted from 0: `1,000`, `-1` for the last one, `50%`. */
export function parseRow(text: string, rowCount: number): number | undefined {
  const plain = text.replace(/[\s,_']/g, '');
  if (rowCount < 1 || !/^(-?\d+|\d+(\.\d+)?%)$/.test(plain)) return undefined;
  const value = Number.parseFloat(plain);
  const row = plain.endsWith('%')
    ? Math.round((value / 100) * (rowCount - 1))
    : value < 0
      ? rowCount + value
      : value - 1;
  return Math.min(Math.max(row, 0), rowCount - 1);
}
