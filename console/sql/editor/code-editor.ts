import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, toggleComment } from '@codemirror/commands';
import { bracketMatching, StreamLanguage, syntaxTree } from '@codemirror/language';
import { Compartment, EditorState, type Extension, Prec, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { completionsAt, type FrameIndex, reach } from './completion.ts';
import { type Dialect, type DialectName, dialects } from './dialects.ts';
import { editorTheme } from './editor-theme.ts';
import { type EditorError, errorMarks, setErrors } from './error-marks.ts';
import { sqlTokenizer } from './sql-tokenizer.ts';

export interface CodeEditorOptions {
  readonly parent: HTMLElement;
  readonly frames: () => FrameIndex;
  readonly onChange: (document: string, text: () => string) => void;
  readonly onRun: () => void;
  /** The text or the cursor is another one. */
  readonly onPlace: () => void;
}

export interface EditorPlace {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The editor of statements. It keeps a state, with its undo history, for each document. */
export interface CodeEditor {
  open(document: string, text: string): void;
  setDialect(name: DialectName): void;
  place(): EditorPlace;
  showErrors(errors: readonly EditorError[]): void;
  focus(): void;
  select(from: number, to: number): void;
  destroy(): void;
}

/** Beside those that the editor marks by itself. */
const hiddenLetters = /[\u034f\u115f\u1160\u180e\u200c-\u200d\u202a-\u202c\u2060-\u206f\u2800\u3164\uffa0]/;
/** Options of a completion that are rendered, around the selected one: they are rendered anew at each key. */
const mostRendered = 40;

const languages = new Map<DialectName, Extension>();

function languageOf(dialect: Dialect): Extension {
  const known = languages.get(dialect.name);
  if (known !== undefined) return known;
  const language = StreamLanguage.define(sqlTokenizer(dialect));
  languages.set(dialect.name, language);
  return language;
}

/** In a shadow root: there its styles are adopted sheets, which the page's security policy allows. */
export function createCodeEditor({ parent, frames, onChange, onRun, onPlace }: CodeEditorOptions): CodeEditor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const states = new Map<string, EditorState>();
  let dialect: Dialect = dialects.duckdb;
  let document = '';

  const complete = (context: CompletionContext): CompletionResult | null => {
    const { state, pos } = context;
    const { name } = syntaxTree(state).resolveInner(pos, -1);
    if (/comment|string/.test(name)) return null;
    const last = state.sliceDoc(Math.max(0, pos - 1), pos);
    if (!context.explicit && !/[\p{L}\d_$."`]/u.test(last)) return null;
    const found = completionsAt(
      state.sliceDoc(Math.max(0, pos - reach), pos),
      state.sliceDoc(pos, pos + reach),
      frames(),
      dialect,
    );
    const [first, second] = found?.options ?? [];
    if (found === undefined || first === undefined) return null;
    const isWhole = second === undefined && (first.apply ?? first.label) === state.sliceDoc(pos - found.replaced, pos);
    if (isWhole && !context.explicit) return null;
    return { from: pos - found.replaced, options: found.options, filter: false };
  };

  const run = (target: EditorView): boolean => {
    closeCompletion(target);
    onRun();
    return true;
  };
  const extensions = [
    Prec.highest(
      keymap.of([
        { key: 'Ctrl-Enter', mac: 'Cmd-Enter', run },
        { key: 'Ctrl-Enter', run },
        { key: 'Tab', run: acceptCompletion },
      ]),
    ),
    lineNumbers(),
    errorMarks,
    history(),
    drawSelection(),
    highlightSpecialChars({ addSpecialChars: hiddenLetters }),
    bracketMatching(),
    highlightActiveLine(),
    autocompletion({
      override: [complete],
      icons: false,
      activateOnTypingDelay: 60,
      maxRenderedOptions: mostRendered,
      optionClass: ({ type }) => `cm-is-${type}`,
    }),
    keymap.of([...defaultKeymap, ...historyKeymap, { key: 'Mod-/', run: toggleComment }]),
    EditorView.contentAttributes.of({ 'aria-label': 'SQL statements', spellcheck: 'false', autocapitalize: 'off' }),
    EditorView.lineWrapping,
    typingOverSelection,
    placeholder('SELECT * FROM …'),
    EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
      if (docChanged) onChange(document, textOf(state.doc));
      if (docChanged || selectionSet) onPlace();
    }),
    editorTheme,
  ];
  const newState = (text: string): EditorState =>
    EditorState.create({ doc: text, extensions: [language.of(languageOf(dialect)), ...extensions] });
  const view = new EditorView({ state: newState(''), parent: root, root });

  const replaceText = (text: string): void => {
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: text },
      selection: { anchor: text.length },
    });
  };

  return {
    open(next, text) {
      if (document === next) {
        if (view.state.doc.toString() !== text) replaceText(text);
        return;
      }
      if (document !== '') states.set(document, view.state);
      document = next;
      const known = states.get(next);
      view.setState(known !== undefined && known.doc.toString() === text ? known : newState(text));
      view.dispatch({ effects: language.reconfigure(languageOf(dialect)) });
      onPlace();
    },
    setDialect(name) {
      dialect = dialects[name];
      view.dispatch({ effects: language.reconfigure(languageOf(dialect)) });
    },
    place() {
      const { from, to } = view.state.selection.main;
      return { text: view.state.doc.toString(), from, to };
    },
    showErrors: (errors) => view.dispatch({ effects: setErrors.of(errors) }),
    focus: () => view.focus(),
    select: (from, to) => view.dispatch({ selection: { anchor: from, head: to } }),
    destroy: () => view.destroy(),
  };
}

/**
 * Chromium gives text that is typed over a coloured word the colour of the word, by a style attribute, which the policy of
 * the page refuses. So that it has nothing to do, the text is put there by the editor.
 */
const typingOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const isTyped = event.inputType === 'insertText' && !event.isComposing && event.data !== null;
    if (!isTyped || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data ?? ''), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

function textOf(doc: Text): () => string {
  return () => doc.toString();
}
