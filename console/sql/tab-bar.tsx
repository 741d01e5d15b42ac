import { useRef, useState } from 'preact/hooks';
import { FormDialog } from '../widgets/form-dialog.tsx';
import { Icon } from '../widgets/icon.tsx';
import { RevealedText } from '../widgets/revealed-text.tsx';
import type { SqlTab } from './kept/tab-store.ts';
import { forgetRuns } from './run/statement-run.ts';
import { changeTab, closeTab, currentTab, openTab, selectTab, tabs } from './sql-tabs.ts';

function discardTab(id: string): void {
  forgetRuns(id);
  closeTab(id);
}

/** Arrow keys choose, F2 or a double click renames, Delete closes. */
export function TabBar() {
  const list = useRef<HTMLDivElement>(null);
  const [renamed, setRenamed] = useState<SqlTab | undefined>();
  const current = currentTab.value;
  const step = (by: number): void => {
    const all = tabs.peek();
    const at = all.findIndex(({ id }) => id === current.id);
    const next = all[(at + by + all.length) % all.length];
    if (next === undefined) return;
    selectTab(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, tab: SqlTab): void => {
    if (event.key === 'ArrowRight') step(1);
    else if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'Delete') {
      discardTab(tab.id);
      // Its button is gone with the next rendering.
      requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus());
    } else if (event.key === 'F2') setRenamed(tab);
    else return;
    event.preventDefault();
  };
  return (
    <div class="sql-tabs">
      <div class="tabs" role="tablist" aria-label="Statements" ref={list}>
        {tabs.value.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            id={`sql-${tab.id}`}
            aria-selected={tab.id === current.id}
            aria-controls="sql-work"
            tabIndex={tab.id === current.id ? 0 : -1}
            title="Double click or F2 renames, Delete closes"
            onClick={() => selectTab(tab.id)}
            onDblClick={() => setRenamed(tab)}
            onKeyDown={(event) => onKeyDown(event, tab)}
          >
            <span class="sql-tab-name">
              <RevealedText text={tab.name} />
            </span>
            {/* For the mouse: a tab has no button inside, and the keyboard has Delete. */}
            <span
              class="sql-tab-close"
              aria-hidden="true"
              onClick={(event) => {
                event.stopPropagation();
                discardTab(tab.id);
              }}
            >
              <Icon name="close" />
            </span>
          </button>
        ))}
      </div>
      <button type="button" class="icon-button" title="New tab" aria-label="New tab" onClick={() => openTab()}>
        <Icon name="plus" />
      </button>
      {renamed !== undefined && (
        <NameDialog
          title="Rename the tab"
          action="Rename"
          name={renamed.name}
          onName={(name) => changeTab(renamed.id, { name })}
          onClose={() => setRenamed(undefined)}
        />
      )}
    </div>
  );
}

export interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly name: string;
  readonly note?: string;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

export function NameDialog({ title, action, name, note, onName, onClose }: NameDialogProps) {
  const [text, setText] = useState(name);
  return (
    <FormDialog
      title={title}
      action={action}
      isDisabled={text.trim() === ''}
      onSubmit={() => {
        onName(text.trim());
        onClose();
      }}
      onClose={onClose}
    >
      <label class="field">
        <span>Name</span>
        <input
          class="input"
          required
          maxLength={100}
          // biome-ignore lint/a11y/noAutofocus: the dialog is opened to type in
          autoFocus
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onFocus={(event) => event.currentTarget.select()}
        />
      </label>
      {note !== undefined && <p class="muted">{note}</p>}
    </FormDialog>
  );
}
