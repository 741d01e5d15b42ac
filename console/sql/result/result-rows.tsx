import { useMemo, useState } from 'preact/hooks';
import { messageOf } from '../../api/api-error.ts';
import { mayWrite } from '../../api/session.ts';
import { Grid } from '../../grid/grid.tsx';
import { hrefOf } from '../../navigation/route.ts';
import { ExportDialog } from '../../widgets/export-dialog.tsx';
import { formatCount } from '../../widgets/format.ts';
import type { StatementAnswer } from '../run/run-statement.ts';
import { isPlan, type StatementRun } from '../run/statement-run.ts';
import { KeepDialog } from './keep-dialog.tsx';
import { keepStateOf } from './keep-result.ts';
import { keptSource, resultSource } from './result-source.ts';

export type RowsAnswer = StatementAnswer & { readonly kind: 'rows' };

/** The rows of a result, or the plan of a statement. */
export function ResultRows({ run, answer }: { readonly run: StatementRun; readonly answer: RowsAnswer }) {
  const kept = keepStateOf(run).value;
  const [isAsked, setAsked] = useState(false);
  const [isExport, setExport] = useState(false);
  const frame = kept?.kind === 'kept' ? kept.frame : undefined;
  const source = useMemo(
    () => (frame === undefined ? resultSource(run.id, answer.columns, answer.rows) : keptSource(frame)),
    [run.id, answer, frame],
  );
  if (isPlan(run.sql)) {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
      <pre class="sql-plan" tabIndex={0}>
        {planText(run, answer)}
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
      <Grid
        source={source}
        label="Rows of the result"
        footer={
          <button type="button" class="link-button" onClick={() => setExport(true)}>
            Export …
          </button>
        }
      />
      {isExport && (
        <ExportDialog
          title="Export all rows"
          source={
            frame === undefined ? { sql: run.sql, engine: run.engine, params: run.params } : { handle: frame.handle }
          }
          tooLongText="The statement is too long for a link: keep all rows as a frame first."
          onClose={() => setExport(false)}
        >
          {frame === undefined && <p>The statement runs once more, and its rows go into the file.</p>}
        </ExportDialog>
      )}
      {isAsked && <KeepDialog run={run} onClose={() => setAsked(false)} />}
    </>
  );
}

/** QuestDB writes its plans for HTML. */
const entities: Readonly<Record<string, string>> = { '&nbsp;': ' ', '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function planText({ engine }: StatementRun, { rows }: RowsAnswer): string {
  const text = rows.map((row) => String(row.at(-1) ?? '')).join('\n');
  return engine === 'tsdb' ? text.replace(/&\w+;/g, (entity) => entities[entity] ?? entity) : text;
}

/** The external database keeps nothing here. */
function mayKeep({ engine }: StatementRun): boolean {
  return mayWrite.value && engine !== 'tsdb';
}
