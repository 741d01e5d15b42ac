import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Command, offeredCommands } from '../navigation/commands.ts';
import { goTo, hrefOf } from '../navigation/route.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { theme } from './theme.ts';
import { views } from './views.ts';

/** Behind those of the view that is shown. */
const general: readonly Command[] = [
  ...views.map(({ name, title }) => ({ id: `view-${name}`, title: `Go to ${title}`, run: () => goTo(hrefOf(name)) })),
  ...(['system', 'light', 'dark'] as const).map((name) => ({
    id: `theme-${name}`,
    title: `Theme: ${name}`,
    run: () => {
      theme.value = name;
    },
  })),
];

const isOpen = signal(false);
const mostShown = 50;

export function openPalette(): void {
  isOpen.value = true;
}

addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    isOpen.value = !isOpen.value;
  }
});

/** Every command by its name: Ctrl+K. */
export function CommandPalette() {
  if (!isOpen.value) return null;
  return (
    <Dialog title="Commands" onClose={() => (isOpen.value = false)} class="palette">
      <Commands />
    </Dialog>
  );
}

function Commands() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...offeredCommands.value, ...general].filter(({ title }) =>
    words.every((word) => title.toLowerCase().includes(word)),
  );
  const shown = found.slice(0, mostShown);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    isOpen.value = false;
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') run(shown[at]);
    else if (event.key === 'ArrowDown') setAt(Math.min(at + 1, shown.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `palette-${at}` : undefined}
        placeholder="A view, a frame, a command …"
        // biome-ignore lint/a11y/noAutofocus: it is opened to type in
        autoFocus
        value={text}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Commands" ref={list}>
        {shown.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
          <div
            key={command.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => run(command)}
          >
            <span>{command.title}</span>
            {command.keys !== undefined && <kbd>{command.keys}</kbd>}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="muted">No command has such a name.</p>}
    </>
  );
}
