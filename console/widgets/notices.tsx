import { signal } from '@preact/signals';
import { Icon } from './icon.tsx';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const shownMs = 6000;
const notices = signal<readonly Notice[]>([]);
let last = 0;

/** Shows a short notice. Errors stay until they are closed. */
export function notify(text: string, { isError = false } = {}): void {
  const id = ++last;
  notices.value = [...notices.value.slice(-4), { id, text, isError }];
  if (!isError) setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, isError }) => (
        <div key={id} class={isError ? 'notice error' : 'notice'}>
          <span>{text}</span>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
