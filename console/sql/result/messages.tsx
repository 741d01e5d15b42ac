import { FrameholdError } from '#client/errors.ts';
import { RevealedText } from '../../widgets/revealed-text.tsx';
import { outcomeText } from '../run/run-status.tsx';
import type { StatementRun } from '../run/statement-run.ts';

export function Failure({ error }: { readonly error: unknown }) {
  return (
    <div class="sql-failure" role="alert">
      <p class="error">
        <RevealedText text={error instanceof Error ? error.message : String(error)} />
      </p>
      {error instanceof FrameholdError && error.hint !== undefined && (
        <p>
          <RevealedText text={error.hint} />
        </p>
      )}
      {error instanceof FrameholdError && <p class="muted">{error.code}</p>}
    </div>
  );
}

/** The messages of every statement. */
export function Messages({ runs }: { readonly runs: readonly StatementRun[] }) {
  if (runs.length === 0) return <p class="empty">Nothing ran yet.</p>;
  return (
    <ol class="sql-messages">
      {runs.map((run) => {
        const state = run.state.value;
        return (
          <li key={run.id}>
            <code>
              <RevealedText text={run.sql.length > 400 ? `${run.sql.slice(0, 400)} …` : run.sql} />
            </code>
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
