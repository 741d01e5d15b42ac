import { PanelTable } from './panel-table.tsx';
import { engines } from './server-state.ts';

export function EngineTable() {
  const all = engines.value;
  return (
    <section class="panel" aria-labelledby="engines-title">
      <h2 id="engines-title">Engines</h2>
      {all === undefined ? (
        <p class="muted">Asking the engines …</p>
      ) : (
        <PanelTable title="Table of engines" columns={['Name', 'State', 'Kind', 'Version', 'Use']}>
          {all.map(({ name, state, kind, version, problem, unstopped, default: isDefault, auto }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <span class={`state ${state}`}>{state}</span>
                {problem !== undefined && <span class="problem">{problem}</span>}
                {unstopped !== undefined && <span class="problem">{unstopped} statements do not stop</span>}
              </td>
              <td>{kind}</td>
              <td>{version ?? ''}</td>
              <td>{[isDefault ? 'default' : '', auto ? 'large statements of auto' : ''].filter(Boolean).join(', ')}</td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
  );
}
