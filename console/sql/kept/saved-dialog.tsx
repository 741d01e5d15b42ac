import { useRef, useState } from 'preact/hooks';
import { messageOf } from '../../api/api-error.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { notify } from '../../widgets/notices.tsx';
import {
  exportedStatements,
  forgetStatement,
  importStatements,
  type SavedStatement,
  savedStatements,
} from './saved-statements.ts';

export interface SavedDialogProps {
  readonly onChoose: (statement: SavedStatement) => void;
  readonly onClose: () => void;
}

/** The saved statements, and the way to take them to another browser. */
export function SavedDialog({ onChoose, onClose }: SavedDialogProps) {
  const [text, setText] = useState('');
  const file = useRef<HTMLInputElement>(null);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = savedStatements.value.filter(({ name, sql }) => {
    const searched = `${name} ${sql}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  const takeFile = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    try {
      const count = importStatements(await chosen.text());
      notify(`${count} ${count === 1 ? 'statement' : 'statements'} imported`);
    } catch (error) {
      notify(`${chosen.name} cannot be imported: ${messageOf(error)}`, { isError: true });
    }
  };
  return (
    <Dialog title="Saved statements" class="sql-kept" onClose={onClose}>
      <input
        class="input"
        type="search"
        aria-label="Search the saved statements"
        placeholder="Words of the name or the statement …"
        autoFocus
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul class="sql-kept-list">
        {found.map((statement) => (
          <li key={statement.name}>
            <button type="button" class="sql-kept-item" onClick={() => onChoose(statement)}>
              <strong>{statement.name}</strong>
              <code>{statement.sql.slice(0, 300)}</code>
              <span class="muted">{statement.engine}</span>
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`Delete ${statement.name}`}
              onClick={() => forgetStatement(statement.name)}
            >
              <Icon name="trash" />
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="muted">{savedStatements.value.length === 0 ? 'Nothing is saved yet.' : 'Nothing is like that.'}</p>
      )}
      <p class="muted">Kept in this browser alone: export them to take them elsewhere.</p>
      <div class="dialog-actions">
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          hidden
          onChange={(event) => {
            void takeFile(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
        <button type="button" class="button" onClick={() => file.current?.click()}>
          <Icon name="upload" />
          Import
        </button>
        <button type="button" class="button" disabled={savedStatements.value.length === 0} onClick={saveFile}>
          <Icon name="download" />
          Export
        </button>
      </div>
    </Dialog>
  );
}

function saveFile(): void {
  const url = URL.createObjectURL(new Blob([exportedStatements(savedStatements.peek())], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'framehold-statements.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
