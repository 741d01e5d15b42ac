import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { ErrorMessage } from './error-message.tsx';

export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** On the button that does it. */
  readonly action: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <ErrorMessage error={error} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
