import { messageOf } from '../api/api-error.ts';
import { identity, isOperator } from '../api/session.ts';
import { formatDuration } from '../widgets/format.ts';
import { notify } from '../widgets/notices.tsx';
import { RevealedText } from '../widgets/revealed-text.tsx';
import { PanelTable } from './panel-table.tsx';
import { cancelStatement, type RunningStatement, statements } from './server-state.ts';

const shortSql = 120;

export function StatementTable() {
  const running = statements.value;
  const showsTenant = isOperator.value && identity.value?.credential !== 'none';
  return (
    <section class="panel" aria-labelledby="statements-title">
      <h2 id="statements-title">Statements under way</h2>
      {running?.length === 0 && <p class="muted">None.</p>}
      {running !== undefined && running.length > 0 && (
        <PanelTable
          title="Table of statements"
          columns={['Statement', ...(showsTenant ? ['Tenant'] : []), 'Engine', 'Since', 'Progress', '']}
        >
          {running.map((statement) => (
            <tr key={`${statement.id} ${statement.started}`}>
              <td>
                <Sql text={statement.sql} />
              </td>
              {showsTenant && <td>{statement.tenant}</td>}
              <td>{statement.engine}</td>
              <td class="number">{formatDuration(statement.elapsed_ms)}</td>
              <td>{progressOf(statement)}</td>
              <td class="number">
                <button type="button" class="button" onClick={() => void cancel(statement)}>
                  Cancel
                </button>
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
  );
}

function Sql({ text }: { readonly text: string }) {
  const oneLine = text.replace(/\s+/g, ' ').trim();
  if (text === oneLine && oneLine.length <= shortSql)
    return (
      <code>
        <RevealedText text={oneLine} />
      </code>
    );
  return (
    <details>
      <summary>
        <code>
          <RevealedText text={oneLine.length > shortSql ? `${oneLine.slice(0, shortSql)}…` : oneLine} />
        </code>
      </summary>
      <pre>
        <RevealedText text={text} />
      </pre>
    </details>
  );
}

function progressOf({ progress }: RunningStatement): string {
  return progress === null ? '' : `${progress.completed_tasks} of ${progress.tasks} tasks`;
}

async function cancel({ id }: RunningStatement): Promise<void> {
  try {
    await cancelStatement(id);
    notify('The statement is being cancelled.');
  } catch (error) {
    notify(messageOf(error), { isError: true });
  }
}
