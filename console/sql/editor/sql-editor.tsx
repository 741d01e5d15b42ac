import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../../api/api-error.ts';
import { notify } from '../../widgets/notices.tsx';
import { kindOf } from '../engines.ts';
import { indexFor } from '../frame-listing.ts';
import { currentTab, setText, textOf, textVersion } from '../sql-tabs.ts';
import type { CodeEditor, EditorPlace } from './code-editor.ts';
import { dialectOf } from './dialects.ts';
import type { EditorError } from './error-marks.ts';

/** The editor's interface for the view around it. */
export interface EditorHandle {
  place(): EditorPlace;
  showErrors(errors: readonly EditorError[]): void;
  focus(): void;
}

export interface SqlEditorProps {
  readonly handle: { current: EditorHandle | undefined };
  readonly onRun: () => void;
  /** The text or the cursor is another one. */
  readonly onPlace: () => void;
}

/** The editor of the current tab: a plain text field, until the code of the better one is loaded. */
export function SqlEditor({ handle, onRun, onPlace }: SqlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const run = useRef(onRun);
  run.current = onRun;
  const editor = useSignal<CodeEditor | undefined>(undefined);

  const id = useComputed(() => currentTab.value.id);
  const dialect = useComputed(() => dialectOf(kindOf(currentTab.value.engine)).name);

  useEffect(() => {
    const controller = new AbortController();
    let made: CodeEditor | undefined;
    const load = async (): Promise<void> => {
      const { createCodeEditor } = await import('./code-editor.ts');
      if (controller.signal.aborted || host.current === null) return;
      made = createCodeEditor({
        parent: host.current,
        frames: () => indexFor(currentTab.peek().engine),
        onChange: setText,
        onRun: () => run.current(),
        onPlace,
      });
      made.setDialect(dialect.peek());
      made.open(id.peek(), textOf(id.peek()));
      const typed = document.activeElement === plain.current ? plain.current : null;
      handle.current = made;
      editor.value = made;
      if (typed === null) return;
      // At once, so that the next key finds it: a hidden element cannot have the focus.
      host.current.hidden = false;
      made.select(typed.selectionStart, typed.selectionEnd);
      made.focus();
    };
    // Behind a frame of the browser: the page is painted before this is loaded.
    const frame = requestAnimationFrame(() => {
      setTimeout(() => {
        load().catch((error: unknown) => notify(`the editor is a plain one: ${messageOf(error)}`, { isError: true }));
      });
    });
    return () => {
      cancelAnimationFrame(frame);
      controller.abort();
      handle.current = undefined;
      made?.destroy();
    };
  }, []);

  useEffect(() => {
    handle.current ??= {
      place: () => {
        const { value = '', selectionStart = 0, selectionEnd = 0 } = plain.current ?? {};
        return { text: value, from: selectionStart, to: selectionEnd };
      },
      showErrors: () => undefined,
      focus: () => plain.current?.focus(),
    };
  }, []);

  useSignalEffect(() => {
    // The version is read so that a text that was replaced is shown.
    const opened = `${id.value}:${textVersion.value}`;
    if (opened !== '') editor.value?.open(id.value, textOf(id.value));
  });
  useSignalEffect(() => editor.value?.setDialect(dialect.value));
  const shownId = id.value;
  return (
    <div class="sql-editor">
      <div ref={host} class="sql-editor-host" hidden={editor.value === undefined} />
      {editor.value === undefined && (
        <textarea
          key={`${shownId}:${textVersion.value}`}
          ref={plain}
          class="sql-editor-plain"
          aria-label="SQL statements"
          spellcheck={false}
          defaultValue={textOf(shownId)}
          onInput={(event) => {
            const { value } = event.currentTarget;
            setText(shownId, () => value);
            onPlace();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              run.current();
            }
          }}
        />
      )}
    </div>
  );
}
