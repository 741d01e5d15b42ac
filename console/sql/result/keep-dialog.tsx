import { useState } from 'preact/hooks';
import { Choice } from '../../widgets/fields.tsx';
import { FormDialog } from '../../widgets/form-dialog.tsx';
import type { StatementRun } from '../run/statement-run.ts';
import { keepResult, proposedHandle } from './keep-result.ts';

const lifetimes = [
  ['1h', 'an hour without a reader'],
  ['1d', 'a day without a reader'],
  ['7d', 'a week without a reader'],
  ['none', 'until it is dropped'],
] as const;

/** A dialog for the name under which all rows of a result are kept. */
export function KeepDialog({ run, onClose }: { readonly run: StatementRun; readonly onClose: () => void }) {
  const [handle, setHandle] = useState(() => proposedHandle(new Date()));
  const [ttl, setTtl] = useState('1h');
  return (
    <FormDialog
      title="All rows"
      action="Keep all rows"
      onSubmit={() => {
        void keepResult(run, { handle, ttl });
        onClose();
      }}
      onClose={onClose}
    >
      <p>The statement runs once more, and all of its rows become a frame, which is then read page by page.</p>
      <label class="field">
        <span>Name of the frame</span>
        <input
          class="input mono"
          required
          pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}"
          title="letters, digits, _ . -"
          // biome-ignore lint/a11y/noAutofocus: the dialog is opened to type in
          autoFocus
          value={handle}
          onInput={(event) => setHandle(event.currentTarget.value)}
        />
      </label>
      <Choice label="It stays for" value={ttl} options={lifetimes} onChange={setTtl} />
    </FormDialog>
  );
}
