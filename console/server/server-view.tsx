import { identity, isOperator } from '../api/session.ts';
import { ErrorMessage } from '../widgets/error-message.tsx';
import { formatDuration } from '../widgets/format.ts';
import { DamagedFrames } from './damaged-frames.tsx';
import { EngineTable } from './engine-table.tsx';
import { Figures } from './figures.tsx';
import { damaged, failure, loadDamaged, loadEngines, loadFigures, samples } from './server-state.ts';
import { SettingsTable } from './settings-table.tsx';
import { StatementTable } from './statement-table.tsx';
import { usePoll } from './use-poll.ts';

const figuresMs = 2000;
/** Each request makes the server check every cluster. */
const enginesMs = 10_000;
const damagedMs = 30_000;

export function ServerView() {
  usePoll(loadFigures, figuresMs);
  usePoll(loadEngines, enginesMs);
  usePoll(loadDamaged, damagedMs);
  const stats = samples.value.at(-1)?.stats;
  return (
    <div class="view server">
      <div class="toolbar">
        <h1>Server</h1>
        {stats !== undefined && (
          <span class="muted">
            version {stats.version}
            {stats.server !== undefined && ` on Node.js ${stats.server.node}`}, up for {formatDuration(stats.uptime_ms)}
          </span>
        )}
      </div>
      <ErrorMessage error={failure.value} />
      {damaged.value.length > 0 && <DamagedFrames frames={damaged.value} />}
      <Figures samples={samples.value} />
      <StatementTable />
      <EngineTable />
      {isOperator.value && identity.value?.prefix === null && <SettingsTable />}
    </div>
  );
}
