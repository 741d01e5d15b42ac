import { useEffect, useState } from 'preact/hooks';
import { Check, SearchInput } from '../widgets/fields.tsx';
import { PanelTable } from './panel-table.tsx';
import { config, loadConfig } from './server-state.ts';

/** For operators: the settings of the server. */
export function SettingsTable() {
  const [filter, setFilter] = useState('');
  const [onlyGiven, setOnlyGiven] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    void loadConfig(leaving.signal);
    return () => leaving.abort();
  }, []);
  const all = config.value;
  if (all === undefined || all.settings.length === 0) return null;
  const words = filter.toLowerCase();
  const shown = all.settings.filter(
    ({ key, value, origin }) =>
      (!onlyGiven || origin !== 'default') && `${key} ${value ?? ''} ${origin}`.toLowerCase().includes(words),
  );
  return (
    <section class="panel" aria-labelledby="settings-title">
      <div class="toolbar">
        <h2 id="settings-title">Settings</h2>
        <span class="muted">{all.config_file === null ? 'no config file' : `config file ${all.config_file}`}</span>
        <Check class="option-check push" isChecked={onlyGiven} onChange={setOnlyGiven}>
          Only those that are not the default
        </Check>
        <SearchInput label="Filter settings" placeholder="Filter" value={filter} onInput={setFilter} />
      </div>
      <PanelTable title="Table of settings" columns={['Setting', 'Value', 'From']}>
        {shown.map(({ key, value, origin, needs_restart: needsRestart }) => (
          <tr key={key}>
            <th scope="row">
              <code>{key}</code>
            </th>
            <td>{value === null ? <span class="muted">not set</span> : <code>{value}</code>}</td>
            <td class={origin === 'default' ? 'muted' : ''}>
              {origin}
              {needsRestart && ' (changed since: needs a restart)'}
            </td>
          </tr>
        ))}
      </PanelTable>
      {shown.length === 0 && <p class="muted">No setting has this text.</p>}
    </section>
  );
}
