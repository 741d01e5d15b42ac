import { useState } from 'preact/hooks';
import { Dialog } from '../../widgets/dialog.tsx';
import { SearchInput } from '../../widgets/fields.tsx';
import { formatCount, formatCountOf, formatDuration } from '../../widgets/format.ts';
import { RevealedText } from '../../widgets/revealed-text.tsx';
import { isPlan } from '../run/statement-run.ts';
import { FileActions } from './file-actions.tsx';
import { exportedHistory, forgetHistory, type HistoryEntry, history, importHistory, searchEntries } from './history.ts';

const mostShown = 100;

export interface HistoryDialogProps {
  readonly onChoose: (entry: HistoryEntry) => void;
  readonly onClose: () => void;
}

/** The statements that ran, to put one into the editor again. */
export function HistoryDialog({ onChoose, onClose }: HistoryDialogProps) {
  const [text, setText] = useState('');
  const found = searchEntries(history.value, text);
  return (
    <Dialog title="History" class="sql-kept" onClose={onClose}>
      <SearchInput
        label="Search the history"
        placeholder="Words of the statement …"
        hasFocus
        value={text}
        onInput={setText}
      />
      <ul class="sql-kept-list">
        {found.slice(0, mostShown).map((entry, at) => (
          <li key={`${entry.at}-${at}`}>
            <button type="button" class="sql-kept-item" onClick={() => onChoose(entry)}>
              <code>
                <RevealedText text={entry.sql.slice(0, 300)} />
              </code>
              <span class="muted">{describe(entry)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="muted">{history.value.length === 0 ? 'Nothing ran yet.' : 'No statement has these words.'}</p>
      )}
      {found.length > mostShown && (
        <p class="muted">
          {mostShown} of {formatCount(found.length)} are shown: search for others.
        </p>
      )}
      <p class="muted">The last 500 statements, kept in this browser alone: export them to take them elsewhere.</p>
      <div class="dialog-actions">
        <FileActions
          name="framehold-history.json"
          isEmpty={history.value.length === 0}
          exported={() => exportedHistory(history.peek())}
          take={importHistory}
        />
        <button type="button" class="button" disabled={history.value.length === 0} onClick={forgetHistory}>
          Clear the history
        </button>
      </div>
    </Dialog>
  );
}

function describe({ at, sql, engine, ms, rows, outcome }: HistoryEntry): string {
  const time = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
  const given = isPlan(sql) ? 'the plan' : formatCountOf(rows ?? 0, 'row');
  const result = outcome === 'rows' ? given : outcome;
  return `${time} · ${engine} · ${formatDuration(ms)} · ${result}`;
}
