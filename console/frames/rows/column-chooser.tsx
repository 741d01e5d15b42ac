import { useState } from 'preact/hooks';
import { gridColumn } from '../../grid/grid-source.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { SearchInput } from '../../widgets/fields.tsx';
import { formatCount } from '../../widgets/format.ts';
import { RevealedText } from '../../widgets/revealed-text.tsx';
import type { FrameColumn } from '../frame.ts';

/** A dialog with more lines would be slow. */
const maxShown = 200;

export interface ColumnChooserProps {
  readonly columns: readonly FrameColumn[];
  /** None means all. */
  readonly chosen: readonly string[];
  readonly onChoose: (names: readonly string[]) => void;
  readonly onClose: () => void;
}

export function ColumnChooser({ columns, chosen, onChoose, onClose }: ColumnChooserProps) {
  const [names, setNames] = useState<ReadonlySet<string>>(
    new Set(chosen.length === 0 ? columns.map(({ name }) => name) : chosen),
  );
  const [filter, setFilter] = useState('');
  const found = columns.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  const toggle = (name: string): void => {
    const next = new Set(names);
    if (!next.delete(name)) next.add(name);
    setNames(next);
  };
  const setFound = (isChosen: boolean): void => {
    const next = new Set(names);
    for (const { name } of found) {
      if (isChosen) next.add(name);
      else next.delete(name);
    }
    setNames(next);
  };
  const apply = (): void => {
    const kept = columns.map(({ name }) => name).filter((name) => names.has(name));
    onChoose(kept.length === columns.length ? [] : kept);
    onClose();
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="toolbar">
        <SearchInput label="Filter columns" value={filter} onInput={setFilter} />
        <button type="button" class="button" onClick={() => setFound(true)}>
          All
        </button>
        <button type="button" class="button" onClick={() => setFound(false)}>
          None
        </button>
      </div>
      <div class="column-choices">
        {found.slice(0, maxShown).map((column, index) => (
          // Names may repeat.
          <label key={`${index} ${column.name}`} class="option">
            <input type="checkbox" checked={names.has(column.name)} onChange={() => toggle(column.name)} />
            <span>
              <RevealedText text={column.name} />
            </span>
            <span class="muted">{gridColumn(column).type}</span>
          </label>
        ))}
        {found.length > maxShown && (
          <p class="muted">{formatCount(found.length - maxShown)} more: type to find them.</p>
        )}
      </div>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" disabled={names.size === 0} onClick={apply}>
          Show {formatCount(names.size)}
        </button>
      </div>
    </Dialog>
  );
}
