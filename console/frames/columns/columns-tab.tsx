import { useState } from 'preact/hooks';
import { gridColumn } from '../../grid/grid-source.ts';
import { SearchInput } from '../../widgets/fields.tsx';
import { formatCount } from '../../widgets/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { RevealedText } from '../../widgets/revealed-text.tsx';
import type { Frame, FrameColumn } from '../frame.ts';
import { ColumnProfile } from './column-profile.tsx';

const pageColumns = 200;

/** The columns of a frame and their types; more of each on demand. */
export function ColumnsTab({ frame }: { readonly frame: Frame }) {
  const [filter, setFilter] = useState('');
  const [shown, setShown] = useState(pageColumns);
  const columns = frame.columns ?? [];
  const found = columns
    .map((column, index) => ({ column, index }))
    .filter(({ column }) => column.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <div class="frame-scroll-panel">
      {columns.length > 12 && (
        <SearchInput
          label="Filter columns"
          placeholder={`Filter ${formatCount(columns.length)} columns`}
          value={filter}
          onInput={setFilter}
        />
      )}
      <ul class="column-list">
        {found.slice(0, shown).map(({ column, index }) => (
          <ColumnItem key={index} handle={frame.handle} column={column} />
        ))}
      </ul>
      {found.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + pageColumns)}>
          {formatCount(found.length - shown)} more
        </button>
      )}
    </div>
  );
}

function ColumnItem({ handle, column }: { readonly handle: string; readonly column: FrameColumn }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="column-item">
      <button type="button" class="column-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        <span class="column-name">
          <RevealedText text={column.name} />
        </span>
        <span class="badge">{gridColumn(column).type}</span>
      </button>
      {isOpen && <ColumnProfile handle={handle} column={column} />}
    </li>
  );
}
