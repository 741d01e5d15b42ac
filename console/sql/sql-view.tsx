import { untracked, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FrameholdError } from '#client/errors.ts';
import { messageOf } from '../api/api-error.ts';
import { offerCommands } from '../navigation/commands.ts';
import { goTo, hrefOf, place } from '../navigation/route.ts';
import { copyText } from '../widgets/clipboard.ts';
import { notify } from '../widgets/notices.tsx';
import { type EditorHandle, SqlEditor } from './editor/sql-editor.tsx';
import { kindOf, refreshEngines } from './engines.ts';
import { refreshFrames } from './frame-listing.ts';
import { remember } from './kept/history.ts';
import { HistoryDialog } from './kept/history-dialog.tsx';
import { SavedDialog } from './kept/saved-dialog.tsx';
import { saveStatement } from './kept/saved-statements.ts';
import { keepValues } from './parameters/kept-values.ts';
import { type ParameterFault, ParameterFields, type ParameterPlace } from './parameters/parameter-fields.tsx';
import { WrongValue } from './parameters/parameter-value.ts';
import { bind, faultOf, statementsAt, typedValues } from './parameters/statements-at.ts';
import { panelOf, ResultPanel, showPanel } from './result/result-panel.tsx';
import { cancelTab, prefixLength, type StatementRun, startStatements } from './run/statement-run.ts';
import { SplitPane } from './split-pane.tsx';
import { type LinkedStatement, linkedStatement } from './sql-link.ts';
import { changeTab, currentTab, keepTabs, openTab, persistTabs, selectTab, tabs, textOf } from './sql-tabs.ts';
import { SqlToolbar } from './sql-toolbar.tsx';
import { NameDialog, TabBar } from './tab-bar.tsx';

/** Time without a change of the place in the editor. */
const settleMs = 120;

export function SqlView() {
  const editor = useRef<EditorHandle | undefined>(undefined);
  const [dialog, setDialog] = useState<'history' | 'saved' | 'save' | undefined>();
  const isChosen = useRef(false);
  const closeDialog = (): void => setDialog(undefined);
  const parameterPlace = useSignal<ParameterPlace>({ tab: '', statements: [] });
  const fault = useSignal<ParameterFault | undefined>(undefined);
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined);

  const findParameters = (): void => {
    const handle = editor.current;
    if (handle === undefined) return;
    const { id } = currentTab.peek();
    const statements = statementsAt(handle.place()).map(({ statement, parameters }) => ({
      sql: statement,
      parameters,
    }));
    const found = { tab: id, statements: statements.filter(({ parameters }) => parameters.length > 0) };
    if (JSON.stringify(found) === JSON.stringify(parameterPlace.peek())) return;
    fault.value = undefined;
    parameterPlace.value = found;
  };
  const onPlace = (): void => {
    clearTimeout(settling.current);
    settling.current = setTimeout(findParameters, settleMs);
  };
  useSignalEffect(() => {
    // Parameters depend on the dialect of the engine.
    if (kindOf(currentTab.value.engine) !== '') onPlace();
  });

  const onEnd = (run: StatementRun): void => {
    const state = run.state.peek();
    rememberRun(run);
    if (state.kind === 'answered' && state.answer.kind === 'done') refreshFrames({ isStale: true }).catch(ignored);
    if (state.kind !== 'failed') return;
    underline(run, state.error);
    fault.value = faultOf(run, state.error);
  };

  const underline = (run: StatementRun, error: unknown): void => {
    const handle = editor.current;
    if (!(error instanceof FrameholdError) || error.position === undefined || handle === undefined) return;
    const { text } = handle.place();
    const isThere = text.startsWith(run.statement, run.textAt) && currentTab.peek().id === run.tab;
    const at = run.textAt + Math.max(0, error.position - prefixLength(run));
    if (isThere) handle.showErrors([{ at, message: messageOf(error) }]);
  };

  const start = ({ isExplain = false } = {}): void => {
    const handle = editor.current;
    if (handle === undefined) return;
    const { id, engine } = currentTab.peek();
    const found = statementsAt(handle.place());
    if (found.length === 0) {
      notify('there is no statement to run');
      return;
    }
    handle.showErrors([]);
    findParameters();
    fault.value = undefined;
    const bound = bind(id, found);
    if (bound instanceof WrongValue) {
      fault.value = { key: bound.key, message: bound.message };
      return;
    }
    if (panelOf(id) === 'messages') showPanel(id, 'result');
    void startStatements(
      bound.map((statement) => ({ ...statement, isExplain })),
      { tab: id, engine, onEnd },
    );
  };

  const copyLink = (): void => {
    const { id, engine, plot } = currentTab.peek();
    const shown = panelOf(id) === 'plot' ? plot : undefined;
    const text = textOf(id);
    const values = typedValues(id, text, editor.current?.place());
    const params = Object.keys(values).length === 0 ? undefined : JSON.stringify(values);
    const link = new URL(hrefOf('sql', [], { q: text, engine, plot: shown, params }), location.href).href;
    if (copyText(link)) notify('the link is copied: it opens this text, and runs nothing');
    else notify('the browser does not let this page copy', { isError: true });
  };

  const putIntoEditor = ({ sql, engine, name }: { sql: string; engine: string; name?: string }): void => {
    openTab({ text: sql, engine, ...(name !== undefined && { name }) });
    closeDialog();
    isChosen.current = true;
  };

  // A dialog that closes gives the focus back to the button that opened it.
  useLayoutEffect(() => {
    if (dialog === undefined && isChosen.current) editor.current?.focus();
    isChosen.current = false;
  }, [dialog]);

  useSignalEffect(() => {
    if (place.value.view !== 'sql') return;
    const linked = linkedStatement(place.value.parameters);
    if (linked === undefined) return;
    untracked(() => openLink(linked));
  });

  const openLink = ({ sql, engine, isToRun, plot, parameters }: LinkedStatement): void => {
    goTo(hrefOf('sql'), { replace: true });
    const tab = openLinked(sql, engine);
    for (const each of statementsAt({ text: sql, from: 0, to: sql.length })) {
      const given = each.parameters.flatMap(({ key }) =>
        Object.hasOwn(parameters, key) ? [[key, parameters[key]]] : [],
      );
      if (given.length > 0) keepValues(tab, each.statement, Object.fromEntries(given));
    }
    if (plot !== undefined) {
      changeTab(tab, { plot });
      showPanel(tab, 'plot');
    }
    if (!isToRun) return;
    const bound = bind(tab, statementsAt({ text: sql, from: 0, to: 0 }));
    if (bound instanceof WrongValue) fault.value = { key: bound.key, message: bound.message };
    else void startStatements(bound, { tab, engine: 'local', door: 'read', onEnd });
  };

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    refreshEngines(signal).catch(ignored);
    refreshFrames({ signal }).catch(ignored);
    keepTabs();
    const withdraw = offerCommands('sql', [
      { id: 'sql-run', title: 'Run the statement', keys: 'Ctrl+Enter', run: () => start() },
      { id: 'sql-explain', title: 'Explain the statement', run: () => start({ isExplain: true }) },
      { id: 'sql-cancel', title: 'Cancel what runs', run: () => cancelTab(currentTab.peek().id) },
      { id: 'sql-history', title: 'SQL history', run: () => setDialog('history') },
      { id: 'sql-saved', title: 'Saved SQL statements', run: () => setDialog('saved') },
      { id: 'sql-save', title: 'Save the SQL of this tab', run: () => setDialog('save') },
      { id: 'sql-link', title: 'Copy a link to this SQL', run: copyLink },
      { id: 'sql-new-tab', title: 'New SQL tab', run: () => openTab() },
    ]);
    // In the editor it has been handled before.
    const onKeyDown = (event: KeyboardEvent): void => {
      const isRun = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented;
      if (!isRun || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      start();
    };
    addEventListener('keydown', onKeyDown, { signal });
    return () => {
      withdraw();
      persistTabs();
      controller.abort();
    };
  }, []);

  return (
    <div class="sql-view">
      <h1 class="visually-hidden">SQL</h1>
      <TabBar />
      <div id="sql-work" class="sql-work" role="tabpanel" aria-labelledby={`sql-${currentTab.value.id}`}>
        <SqlToolbar
          onRun={() => start()}
          onExplain={() => start({ isExplain: true })}
          onSave={() => setDialog('save')}
          onSaved={() => setDialog('saved')}
          onHistory={() => setDialog('history')}
          onCopyLink={copyLink}
        />
        <ParameterFields
          place={parameterPlace}
          fault={fault}
          onChange={() => {
            fault.value = undefined;
          }}
          onRun={() => start()}
        />
        <SplitPane
          name="sql"
          top={<SqlEditor handle={editor} onRun={() => start()} onPlace={onPlace} />}
          bottom={<ResultPanel tab={currentTab.value.id} />}
        />
      </div>
      {dialog === 'history' && <HistoryDialog onChoose={putIntoEditor} onClose={closeDialog} />}
      {dialog === 'saved' && <SavedDialog onChoose={putIntoEditor} onClose={closeDialog} />}
      {dialog === 'save' && (
        <NameDialog
          title="Save the SQL of this tab"
          action="Save"
          name={currentTab.value.name}
          note="Kept in this browser. One with the same name is replaced."
          onName={saveTab}
          onClose={closeDialog}
        />
      )}
    </div>
  );
}

/** A tab that has this text already is shown again. */
function openLinked(sql: string, engine: string): string {
  const known = tabs.peek().find((tab) => tab.engine === engine && textOf(tab.id) === sql);
  if (known === undefined) return openTab({ text: sql, engine }).id;
  selectTab(known.id);
  return known.id;
}

function saveTab(name: string): void {
  const { id, engine } = currentTab.peek();
  changeTab(id, { name });
  if (saveStatement({ name, sql: textOf(id), engine })) notify(`${name} is saved in this browser`);
  else notify('the browser has no room for it', { isError: true });
}

function rememberRun({ at, sql, engine, state }: StatementRun): void {
  const ended = state.peek();
  if (ended.kind !== 'answered' && ended.kind !== 'failed' && ended.kind !== 'cancelled') return;
  const answer = ended.kind === 'answered' ? ended.answer : undefined;
  remember({
    at,
    sql,
    engine,
    ms: ended.ms,
    rows: answer?.kind === 'rows' ? answer.rows.length : (answer?.updated ?? null),
    outcome: ended.kind === 'answered' ? ended.answer.kind : ended.kind,
  });
}

function ignored(): void {}
