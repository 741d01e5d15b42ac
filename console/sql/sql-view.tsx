import { useEffect, useRef } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.ts';
import { offerCommands } from '../app/commands.ts';
import { notify } from '../widgets/notices.tsx';
import { dialectOf } from './editor/dialects.ts';
import { type EditorHandle, SqlEditor } from './editor/sql-editor.tsx';
import { kindOf, refreshEngines } from './engines.ts';
import { refreshFrames } from './frame-listing.ts';
import { ResultPanel } from './result-panel.tsx';
import { SplitPane } from './split-pane.tsx';
import { currentTab, openTab, persistTabs } from './sql-tabs.ts';
import { SqlToolbar } from './sql-toolbar.tsx';
import { cancelTab, prefixLength, type StatementRun, startStatements } from './statement-run.ts';
import { statementsToRun } from './statements-to-run.ts';
import { TabBar } from './tab-bar.tsx';

export function SqlView() {
  const editor = useRef<EditorHandle | undefined>(undefined);

  const onEnd = (run: StatementRun): void => {
    const state = run.state.peek();
    if (state.kind === 'answered' && state.answer.kind === 'done') refreshFrames({ isStale: true }).catch(ignored);
    if (state.kind === 'failed') underline(run, state.error);
  };

  const underline = (run: StatementRun, error: unknown): void => {
    const handle = editor.current;
    if (!(error instanceof ApiError) || error.position === undefined || handle === undefined) return;
    const { text } = handle.place();
    const isThere = text.startsWith(run.statement, run.textAt) && currentTab.peek().id === run.tab;
    const at = run.textAt + Math.max(0, error.position - prefixLength(run));
    if (isThere) handle.showErrors([{ at, message: messageOf(error) }]);
  };

  const start = ({ isExplain = false } = {}): void => {
    const handle = editor.current;
    if (handle === undefined) return;
    const { id, engine } = currentTab.peek();
    const rules = dialectOf(kindOf(engine)).name === 'spark' ? 'spark' : 'duckdb';
    const found = statementsToRun(handle.place(), rules);
    if (found.length === 0) {
      notify('there is no statement to run');
      return;
    }
    handle.showErrors([]);
    void startStatements(
      found.map((statement) => ({ ...statement, isExplain })),
      { tab: id, engine, onEnd },
    );
  };

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    refreshEngines(signal).catch(ignored);
    refreshFrames({ signal }).catch(ignored);
    addEventListener('pagehide', persistTabs, { signal });
    const withdraw = offerCommands('sql', [
      { id: 'sql-run', title: 'Run the statement', keys: 'Ctrl+Enter', run: () => start() },
      { id: 'sql-explain', title: 'Explain the statement', run: () => start({ isExplain: true }) },
      { id: 'sql-cancel', title: 'Cancel what runs', run: () => cancelTab(currentTab.peek().id) },
      { id: 'sql-new-tab', title: 'New SQL tab', run: () => openTab() },
    ]);
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
        <SqlToolbar onRun={() => start()} onExplain={() => start({ isExplain: true })} />
        <SplitPane
          name="sql"
          top={<SqlEditor handle={editor} onRun={() => start()} />}
          bottom={<ResultPanel tab={currentTab.value.id} />}
        />
      </div>
    </div>
  );
}

function ignored(): void {}
