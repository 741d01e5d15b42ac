import { token } from '../api/session-token.ts';
import { copyText } from '../widgets/clipboard.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { Icon } from '../widgets/icon.tsx';
import { notify } from '../widgets/notices.tsx';
import type { Frame } from './frame.ts';
import { frameSnippets } from './frame-snippets.ts';

export function SnippetsDialog({ frame, onClose }: { readonly frame: Frame; readonly onClose: () => void }) {
  const snippets = frameSnippets({
    handle: frame.handle,
    origin: location.origin,
    hasToken: token.value !== undefined,
  });
  return (
    <Dialog title={`Use ${frame.handle} from a program`} class="wide" onClose={onClose}>
      {snippets.map(({ title, text }) => (
        <section key={title} class="snippet-section">
          <div class="toolbar">
            <h3>{title}</h3>
            <button
              type="button"
              class="icon-button push"
              aria-label={`Copy ${title}`}
              onClick={() => notify(copyText(text) ? 'Copied' : 'The browser did not let it be copied')}
            >
              <Icon name="copy" />
            </button>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
          <pre class="snippet" tabIndex={0}>
            {text}
          </pre>
        </section>
      ))}
    </Dialog>
  );
}
