import { useState } from 'preact/hooks';
import { Dialog } from '../../widgets/dialog.tsx';
import { SearchInput } from '../../widgets/fields.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { RevealedText } from '../../widgets/revealed-text.tsx';
import { FileActions } from './file-actions.tsx';
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
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = savedStatements.value.filter(({ name, sql }) => {
    const searched = `${name} ${sql}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  return (
    <Dialog title="Saved statements" class="sql-kept" onClose={onClose}>
      <SearchInput
        label="Search the saved statements"
        placeholder="Words of the name or the statement …"
        hasFocus
        value={text}
        onInput={setText}
      />
      <ul class="sql-kept-list">
        {found.map((statement) => (
          <li key={statement.name}>
            <button type="button" class="sql-kept-item" onClick={() => onChoose(statement)}>
              <strong>
                <RevealedText text={statement.name} />
              </strong>
              <code>
                <RevealedText text={statement.sql.slice(0, 300)} />
              </code>
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
        <p class="muted">
          {savedStatements.value.length === 0 ? 'Nothing is saved yet.' : 'No statement has these words.'}
        </p>
      )}
      <p class="muted">Kept in this browser alone: export them to take them elsewhere.</p>
      <div class="dialog-actions">
        <FileActions
          name="framehold-statements.json"
          isEmpty={savedStatements.value.length === 0}
          exported={() => exportedStatements(savedStatements.peek())}
          take={importStatements}
        />
      </div>
    </Dialog>
  );
}
