import { useEffect, useState } from 'preact/hooks';
import { formatBytes, formatCount, formatDuration } from '../../widgets/format.ts';
import { followProgress, progressById } from './query-progress.ts';
import { isPlan, type StatementRun } from './statement-run.ts';

const tickMs = 100;

/** The state of a running statement. */
export function RunningStatus({ run }: { readonly run: StatementRun }) {
  const state = run.state.value;
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), tickMs);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => (run.engine === 'tsdb' ? undefined : followProgress()), [run.engine]);
  if (state.kind !== 'running') return <span>waits for its turn</span>;
  const progress = progressById.value.get(run.id);
  return (
    <>
      <span>
        running for <span class="sql-elapsed">{formatDuration(performance.now() - state.startedAt)}</span> on{' '}
        {run.engine}
      </span>
      {progress !== undefined && (
        <>
          <progress max={Math.max(progress.tasks, 1)} value={progress.completed_tasks} aria-label="Tasks" />
          <span>
            {formatCount(progress.completed_tasks)} of {formatCount(progress.tasks)} tasks ·{' '}
            {formatBytes(progress.bytes_read)} read
          </span>
        </>
      )}
    </>
  );
}

/** The outcome of a statement, in a line. */
export function outcomeText(run: StatementRun): string {
  const state = run.state.value;
  switch (state.kind) {
    case 'queued':
      return 'waits for its turn';
    case 'running':
      return 'running';
    case 'skipped':
      return 'not run: one before it did not succeed';
    case 'cancelled':
      return `cancelled after ${formatDuration(state.ms)}`;
    case 'failed':
      return `failed after ${formatDuration(state.ms)}`;
    case 'answered': {
      const { answer, ms } = state;
      const time = `${formatDuration(ms)} on ${answer.engine}`;
      if (answer.kind === 'done') {
        return `${answer.updated === undefined ? 'done' : `${counted(answer.updated)} written`} · ${time}`;
      }
      if (isPlan(run.sql)) return `the plan · ${time}`;
      return `${answer.hasMore ? `first ${counted(answer.rows.length)}` : counted(answer.rows.length)} · ${time}`;
    }
    default:
      return state satisfies never;
  }
}

function counted(rows: number): string {
  return `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;
}
