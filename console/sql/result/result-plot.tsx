import { useRef } from 'preact/hooks';
import { LazyPlotPanel } from '../../plot/lazy-plot-panel.tsx';
import type { PlotSource } from '../../plot/plot-answer.ts';
import { parseSettings, settingsText } from '../../plot/settings-link.ts';
import { isPlan, isUnderWay, type StatementRun } from '../run/statement-run.ts';
import { changeTab, tabs } from '../sql-tabs.ts';
import { keepStateOf } from './keep-result.ts';
import { Failure } from './messages.tsx';

export interface ResultPlotProps {
  readonly tab: string;
  readonly run: StatementRun | undefined;
}

/** The plot of a result. It stays, with its settings, while the next statement runs. */
export function ResultPlot({ tab, run }: ResultPlotProps) {
  const last = useRef<PlotSource | undefined>(undefined);
  const state = run?.state.value;
  if (run !== undefined && state !== undefined && !isUnderWay(state)) last.current = plotSource(run);
  const source = last.current;
  if (state?.kind === 'failed') return <Failure error={state.error} />;
  if (source === undefined) return <p class="empty">Run a statement that gives rows: its plot stands here.</p>;
  const settings = parseSettings(tabs.peek().find(({ id }) => id === tab)?.plot ?? null);
  return (
    <div class="sql-plot">
      <LazyPlotPanel
        source={source}
        settings={settings}
        onSettings={(chosen) => changeTab(tab, { plot: settingsText(chosen) })}
      />
    </div>
  );
}

/** All rows of it: the kept frame, or the statement, which the server runs again for the points. */
function plotSource(run: StatementRun): PlotSource | undefined {
  const state = run.state.value;
  if (state.kind !== 'answered' || state.answer.kind !== 'rows' || isPlan(run.sql)) return undefined;
  const { columns } = state.answer;
  const kept = keepStateOf(run).value;
  if (kept?.kind === 'kept') return { kind: 'frame', handle: kept.frame.handle, columns };
  return { kind: 'statement', sql: run.sql, engine: run.engine, params: run.params, columns };
}
