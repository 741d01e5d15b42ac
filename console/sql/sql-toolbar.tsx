import { messageOf } from '../api/api-error.ts';
import { Icon, type IconName } from '../widgets/icon.tsx';
import { notify } from '../widgets/notices.tsx';
import { engines, kindOf, refreshEngines } from './engines.ts';
import { refreshTables } from './frame-listing.ts';
import { cancelTab, isUnderWay, runsByTab } from './run/statement-run.ts';
import { changeTab, currentTab } from './sql-tabs.ts';

export interface SqlToolbarProps {
  readonly onRun: () => void;
  readonly onExplain: () => void;
  readonly onSave: () => void;
  readonly onSaved: () => void;
  readonly onHistory: () => void;
  readonly onCopyLink: () => void;
}

export function SqlToolbar({ onRun, onExplain, onSave, onSaved, onHistory, onCopyLink }: SqlToolbarProps) {
  const { id, engine } = currentTab.value;
  const isRunning = (runsByTab.value.get(id) ?? []).some(({ state }) => isUnderWay(state.value));
  const cannotExplain = kindOf(engine) === 'spark-connect';
  return (
    <div class="toolbar sql-toolbar">
      <button type="button" class="button primary" title="Ctrl+Enter" onClick={onRun}>
        <Icon name="play" />
        Run
      </button>
      <button type="button" class="button" disabled={!isRunning} onClick={() => cancelTab(id)}>
        <Icon name="stop" />
        Cancel
      </button>
      <button
        type="button"
        class="button"
        disabled={cannotExplain}
        title={cannotExplain ? 'A cluster explains nothing: choose the engine local' : 'The plan of the statement'}
        onClick={onExplain}
      >
        Explain
      </button>
      <EngineMenu />
      <div class="push sql-toolbar-end">
        <ToolButton icon="save" title="Save under a name" onClick={onSave} />
        <ToolButton icon="star" title="Saved statements" onClick={onSaved} />
        <ToolButton icon="history" title="History" onClick={onHistory} />
        <ToolButton icon="link" title="Copy link" onClick={onCopyLink} />
      </div>
    </div>
  );
}

interface ToolButtonProps {
  readonly icon: IconName;
  readonly title: string;
  readonly onClick: () => void;
}

function ToolButton({ icon, title, onClick }: ToolButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={title} title={title} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

/** The engines that a statement may name, and how each is. */
function EngineMenu() {
  const { id, engine } = currentTab.value;
  const known = engines.value;
  const current = known.find(({ name }) => name === engine);
  const refresh = (): void => {
    refreshEngines().catch((error: unknown) => notify(messageOf(error), { isError: true }));
  };
  const choose = (name: string): void => {
    changeTab(id, { engine: name });
    // The names are loaded by the first key.
    if (name === 'tsdb') refreshTables().catch(() => undefined);
  };
  const isListed = engine === 'auto' || known.some(({ name }) => name === engine);
  return (
    <label class="sql-engine">
      <span class="visually-hidden">Engine</span>
      <select
        class="input"
        value={engine}
        title={current?.problem ?? 'What runs the statement'}
        onFocus={refresh}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {!isListed && <option value={engine}>{engine}</option>}
        {known.map(({ name, state, version }) => (
          <option key={name} value={name}>
            {name} · {state}
            {version === null ? '' : ` · ${version}`}
          </option>
        ))}
        <option value="auto">auto{known.some(({ auto }) => auto) ? '' : ' · local'}</option>
      </select>
    </label>
  );
}
