import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.ts';
import { mayWrite } from '../api/session.ts';
import { hrefOf } from '../app/route.ts';
import { Grid } from '../grid/grid.tsx';
import { formatCount } from '../widgets/format.ts';
import { KeepDialog } from './keep-dialog.tsx';
import { keepStateOf } from './keep-result.ts';
import { keptSource, resultSource } from './result-source.ts';
import type { StatementAnswer } from './run-statement.ts';
import { outcomeText, RunningStatus } from './run-status.tsx';
import { isPlan, isUnderWay, runsByTab, type StatementRun } from './statement-run.ts';

type Panel = 'result' | 'messages';

type RowsAnswer = StatementAnswer & { readonly kind: 'rows' };

const panels: readonly { readonly name: Panel; readonly title: string }[] = [
  { name: 'result', title: 'Result' },
  { name: 'messages', title: 'Messages' },
];

/** What the statements of a tab gave. */
export function ResultPanel({ tab }: { readonly tab: string }) {
  const runs = runsByTab.value.get(tab) ?? [];
  const [panel, setPanel] = useState<Panel>('result');
  const [chosen, setChosen] = useState<string | undefined>();
  const first = runs[0]?.id;
  useEffect(() => setChosen(undefined), [first]);
  const run =
    runs.find(({ id }) => id === chosen) ?? runs.findLast(({ state }) => hasBegun(state.value.kind)) ?? runs[0];
  return (
    <section class="sql-result" aria-label="Result">
      <div class="sql-result-head">
        <div class="tabs" role="tablist" aria-label="What of the result">
          {panels.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`sql-panel-${name}`}
              aria-selected={panel === name}
              aria-controls="sql-panel"
              onClick={() => setPanel(name)}
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
                {at + 1} of {runs.length}: {outcomeText(each)}
              </option>
            ))}
          </select>
        )}
        <p class="sql-status" role="status">
          {run !== undefined && (isUnderWay(run.state.value) ? <RunningStatus run={run} /> : outcomeText(run))}
        </p>
      </div>
      <div id="sql-panel" class="sql-panel" role="tabpanel" aria-labelledby={`sql-panel-${panel}`} tabIndex={-1}>
        {panel === 'messages' ? <Messages runs={runs} /> : <Result run={run} />}
      </div>
    </section>
  );
}

function hasBegun(kind: string): boolean {
  return kind !== 'queued' && kind !== 'skipped';
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
  return <Rows run={run} answer={answer} />;
}

function Rows({ run, answer }: { readonly run: StatementRun; readonly answer: RowsAnswer }) {
  const kept = keepStateOf(run).value;
  const [isAsked, setAsked] = useState(false);
  const frame = kept?.kind === 'kept' ? kept.frame : undefined;
  const source = useMemo(
    () => (frame === undefined ? resultSource(run.id, answer.columns, answer.rows) : keptSource(frame)),
    [run.id, answer, frame],
  );
  if (isPlan(run.sql)) {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
      <pre class="sql-plan" tabIndex={0}>
        {answer.rows.map((row) => String(row.at(-1) ?? '')).join('\n')}
      </pre>
    );
  }
  return (
    <>
      {(answer.hasMore || kept !== undefined) && (
        <div class="sql-more" role="status">
          {kept === undefined && (
            <span>These are the first {formatCount(answer.rows.length)} rows; there are more.</span>
          )}
          {kept === undefined && mayKeep(run) && (
            <button type="button" class="button" onClick={() => setAsked(true)}>
              All rows …
            </button>
          )}
          {kept?.kind === 'keeping' && (
            <>
              <span>All rows are being kept …</span>
              <button type="button" class="button" onClick={kept.cancel}>
                Cancel
              </button>
            </>
          )}
          {kept?.kind === 'failed' && (
            <>
              <span class="error">{messageOf(kept.error)}</span>
              <button type="button" class="button" onClick={() => setAsked(true)}>
                All rows …
              </button>
            </>
          )}
          {frame !== undefined && (
            <span>
              All {formatCount(frame.rows)} rows, kept as <a href={hrefOf('frames', [frame.handle])}>{frame.handle}</a>
            </span>
          )}
        </div>
      )}
      <Grid source={source} label="Rows of the result" />
      {isAsked && <KeepDialog run={run} onClose={() => setAsked(false)} />}
    </>
  );
}

/** The external database keeps nothing here. */
function mayKeep({ engine }: StatementRun): boolean {
  return mayWrite.value && engine !== 'tsdb';
}

export function Failure({ error }: { readonly error: unknown }) {
  return (
    <div class="sql-failure" role="alert">
      <p class="error">{error instanceof Error ? error.message : String(error)}</p>
      {error instanceof ApiError && error.hint !== undefined && <p>{error.hint}</p>}
      {error instanceof ApiError && <p class="muted">{error.code}</p>}
    </div>
  );
}

function Messages({ runs }: { readonly runs: readonly StatementRun[] }) {
  if (runs.length === 0) return <p class="empty">Nothing ran yet.</p>;
  return (
    <ol class="sql-messages">
      {runs.map((run) => {
        const state = run.state.value;
        return (
          <li key={run.id}>
            <code>{run.sql.length > 400 ? `${run.sql.slice(0, 400)} …` : run.sql}</code>
            <p>
              {new Date(run.at).toLocaleTimeString('en-GB')} · {outcomeText(run)}
            </p>
            {state.kind === 'answered' && state.answer.engineReason !== undefined && (
              <p class="muted">
                {state.answer.engine}: {state.answer.engineReason}
              </p>
            )}
            {state.kind === 'failed' && <Failure error={state.error} />}
          </li>
        );
      })}
    </ol>
  );
}
