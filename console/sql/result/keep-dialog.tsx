import { useState } from 'preact/hooks';
import { Dialog } from '../../widgets/dialog.tsx';
import type { StatementRun } from '../run/statement-run.ts';
import { keepResult, proposedHandle } from './keep-result.ts';

const lifetimes: readonly { readonly ttl: string; readonly title: string }[] = [
  { ttl: '1h', title: 'an hour without a reader' },
  { ttl: '1d', title: 'a day without a reader' },
  { ttl: '7d', title: 'a week without a reader' },
  { ttl: 'none', title: 'until it is dropped' },
];

/** Asks under which name all rows of a result are kept. */
export function KeepDialog({ run, onClose }: { readonly run: StatementRun; readonly onClose: () => void }) {
  const [handle, setHandle] = useState(() => proposedHandle(new Date()));
  const [ttl, setTtl] = useState('1h');
  return (
    <Dialog title="All rows" onClose={onClose}>
      <form
        class="sql-name"
        onSubmit={(event) => {
          event.preventDefault();
          void keepResult(run, { handle, ttl });
          onClose();
        }}
      >
        <p>The statement runs once more, and all of its rows become a frame, which is then read page by page.</p>
        <label class="field">
          <span>Name of the frame</span>
          <input
            class="input mono"
            required
            pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}"
            title="letters, digits, _ . -"
            autoFocus
            value={handle}
            onInput={(event) => setHandle(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>It stays for</span>
          <select class="input" value={ttl} onChange={(event) => setTtl(event.currentTarget.value)}>
            {lifetimes.map((each) => (
              <option key={each.ttl} value={each.ttl}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Keep all rows
          </button>
        </div>
      </form>
    </Dialog>
  );
}
