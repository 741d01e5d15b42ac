import { PanelScroll } from './panel-scroll.tsx';
import { engines } from './server-state.ts';

export function EngineTable() {
  const all = engines.value;
  return (
    <section class="panel" aria-labelledby="engines-title">
      <h2 id="engines-title">Engines</h2>
      {all === undefined ? (
        <p class="muted">Asking them …</p>
      ) : (
        <PanelScroll title="Table of engines">
          <table class="panel-table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Kind</th>
                <th scope="col">Version</th>
                <th scope="col">Use</th>
              </tr>
            </thead>
            <tbody>
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
                  <td>
                    {[isDefault ? 'default' : '', auto ? 'large statements of auto' : ''].filter(Boolean).join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </PanelScroll>
      )}
    </section>
  );
}
