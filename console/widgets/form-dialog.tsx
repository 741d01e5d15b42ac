import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

export interface FormDialogProps {
  readonly title: string;
  /** On the button that submits. */
  readonly action: string;
  readonly isDisabled?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Beside the other buttons. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A dialog with the fields of an action. */
export function FormDialog({
  title,
  action,
  isDisabled = false,
  onSubmit,
  onClose,
  actions,
  children,
}: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <div class="dialog-actions">
          {actions}
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isDisabled}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
