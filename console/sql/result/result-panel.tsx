import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { revealedText } from '../../widgets/hidden-characters.ts';
import { moveBetweenTabs } from '../../widgets/tab-keys.ts';
import { outcomeText, RunningStatus } from '../run/run-status.tsx';
import { isUnderWay, runsByTab, type StatementRun } from '../run/statement-run.ts';
import { Failure, Messages } from './messages.tsx';
import { ResultPlot } from './result-plot.tsx';
import { ResultRows } from './result-rows.tsx';

type Panel = 'result' | 'plot' | 'messages';

const panels: readonly { readonly name: Panel; readonly title: string }[] = [
  { name: 'result', title: 'Result' },
  { name: 'plot', title: 'Plot' },
  { name: 'messages', title: 'Messages' },
];

const panelsByTab = signal<ReadonlyMap<string, Panel>>(new Map());

export function panelOf(tab: string): Panel {
  return panelsByTab.value.get(tab) ?? 'result';
}

export function showPanel(tab: string, panel: Panel): void {
  panelsByTab.value = new Map(panelsByTab.peek()).set(tab, panel);
}

/** The results of a tab's statements. */
export function ResultPanel({ tab }: { readonly tab: string }) {
  const runs = runsByTab.value.get(tab) ?? [];
  const panel = panelOf(tab);
  const [chosen, setChosen] = useState<string | undefined>();
  const first = runs[0]?.id;
  useEffect(() => setChosen(undefined), [first]);
  const run = runs.find(({ id }) => id === chosen) ?? runInFront(runs);
  return (
    <section class="sql-result" aria-label="Result">
      <div class="sql-result-head">
        <div class="tabs" role="tablist" aria-label="What of the result" onKeyDown={moveBetweenTabs}>
          {panels.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`sql-panel-${name}`}
              aria-selected={panel === name}
              aria-controls="sql-panel"
              tabIndex={panel === name ? 0 : -1}
              onClick={() => showPanel(tab, name)}
            >
              {title}
            </button>
          ))}
        </div>
        {runs.length > 1 && panel !== 'messages' && (
          <select
            class="input"
            aria-label="Statement"
            value={run?.id ?? ''}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            {runs.map((each, at) => (
              <option key={each.id} value={each.id}>
                {at + 1} of {runs.length}: {beginningOf(each)} · {outcomeText(each)}
              </option>
            ))}
          </select>
        )}
        <p class="sql-status" role="status">
          {run !== undefined && (isUnderWay(run.state.value) ? <RunningStatus run={run} /> : outcomeText(run))}
          {run?.engine === 'auto' && <AutoReason run={run} />}
        </p>
      </div>
      <div id="sql-panel" class="sql-panel" role="tabpanel" aria-labelledby={`sql-panel-${panel}`} tabIndex={-1}>
        {panel === 'messages' && <Messages runs={runs} />}
        {panel === 'plot' && <ResultPlot key={tab} tab={tab} run={run} />}
        {panel === 'result' && <Result run={run} />}
      </div>
    </section>
  );
}

function AutoReason({ run }: { readonly run: StatementRun }) {
  const state = run.state.value;
  if (state.kind !== 'answered' || state.answer.engineReason === undefined) return null;
  return (
    <span class="sql-reason" title={state.answer.engineReason}>
      {state.answer.engineReason}
    </span>
  );
}

/** The run that others wait for, running or failed; after the end of all the last one with rows. */
function runInFront(runs: readonly StatementRun[]): StatementRun | undefined {
  const last = runs.findLast(({ state }) => !['queued', 'skipped'].includes(state.value.kind)) ?? runs[0];
  if (runs.some(({ state }) => state.value.kind !== 'answered')) return last;
  return runs.findLast(({ state: { value } }) => value.kind === 'answered' && value.answer.kind === 'rows') ?? last;
}

function beginningOf({ sql }: StatementRun): string {
  const line = sql.slice(0, 200).replace(/\s+/g, ' ');
  return revealedText(line.length > 40 ? `${line.slice(0, 40)}…` : line);
}

function Result({ run }: { readonly run: StatementRun | undefined }) {
  const state = run?.state.value;
  if (run === undefined || state === undefined) {
    return (
      <p class="empty">
        <span>
          <kbd>Ctrl+Enter</kbd> runs the statement under the cursor, or the selection.
        </span>
      </p>
    );
  }
  if (state.kind === 'failed') return <Failure error={state.error} />;
  if (state.kind !== 'answered') return <p class="empty">{isUnderWay(state) ? '' : outcomeText(run)}</p>;
  const { answer } = state;
  if (answer.kind === 'done') return <p class="empty">{outcomeText(run)}</p>;
  return <ResultRows run={run} answer={answer} />;
}
