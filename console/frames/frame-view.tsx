import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { parseColumnNames } from '../api/column-names.ts';
import { offerCommands } from '../navigation/commands.ts';
import { goTo, hrefOf, place } from '../navigation/route.ts';
import { copyText } from '../widgets/clipboard.ts';
import { formatBytes, formatCountOf } from '../widgets/format.ts';
import { Icon } from '../widgets/icon.tsx';
import { notify } from '../widgets/notices.tsx';
import { moveBetweenTabs } from '../widgets/tab-keys.ts';
import { ColumnsTab } from './columns/columns-tab.tsx';
import { DetailsTab } from './details/details-tab.tsx';
import type { Frame } from './frame.ts';
import { FrameModel } from './frame-model.ts';
import { LossBar } from './loss-bar.tsx';
import { PlotTab } from './plot-tab.tsx';
import { FrameExportDialog } from './rows/frame-export-dialog.tsx';
import { RowsTab } from './rows/rows-tab.tsx';
import { SnippetsDialog } from './snippets-dialog.tsx';
import { sqlName } from './sql-name.ts';

const tabs = { rows: 'Rows', columns: 'Columns', plot: 'Plot', details: 'Details' } as const;
type Tab = keyof typeof tabs;

/** One frame: `#/frames/<handle>?tab=…&row=…&columns=…`. */
export function FrameView({ handle }: { readonly handle: string }) {
  const { parameters } = place.value;
  const columns = parameters.get('columns') ?? '';
  const model = useMemo(() => new FrameModel(handle, parseColumnNames(columns)), [handle]);
  useEffect(() => model.follow(), [model]);
  useEffect(() => model.choose(parseColumnNames(columns)), [model, columns]);
  const frame = model.frame.value;
  if (frame === undefined) {
    return (
      <div class="view">
        <Head handle={handle} />
        {model.error.value !== undefined && (
          <div class="empty" role="alert">
            <p>{messageOf(model.error.value)}</p>
            <a class="button" href={hrefOf('frames')}>
              All frames
            </a>
          </div>
        )}
      </div>
    );
  }
  return (
    <div class="view frame-view">
      <Head handle={handle} frame={frame}>
        {frame.state === 'held' && <Actions frame={frame} />}
      </Head>
      {frame.state === 'damaged' ? (
        <>
          <p class="error" role="alert">
            <Icon name="warning" /> This frame is damaged: {frame.damaged}
          </p>
          <DetailsTab frame={frame} onChange={() => void model.describe()} />
        </>
      ) : frame.kind === 'view' ? (
        <>
          <p class="muted">This is a view: its rows are those of a query, which Query runs.</p>
          {frame.sql !== undefined && <pre>{frame.sql}</pre>}
          <DetailsTab frame={frame} onChange={() => void model.describe()} />
        </>
      ) : (
        <Tabs model={model} frame={frame} />
      )}
    </div>
  );
}

function Head({ handle, frame, children }: { handle: string; frame?: Frame; children?: ComponentChildren }) {
  return (
    <div class="toolbar">
      <div class="frame-title">
        <a class="icon-button" href={hrefOf('frames')} title="All frames" aria-label="All frames">
          <Icon name="chevron-left" />
        </a>
        <h1>{handle}</h1>
      </div>
      {frame !== undefined && frame.rows !== null && (
        <span class="muted frame-facts">
          {formatCountOf(frame.rows, 'row')} · {formatCountOf(frame.columns?.length ?? 0, 'column')} ·{' '}
          {formatBytes(frame.bytes.cold)}
        </span>
      )}
      {frame?.shared === true && <span class="badge">shared</span>}
      <div class="frame-actions push">{children}</div>
    </div>
  );
}

function Actions({ frame }: { readonly frame: Frame }) {
  const [dialog, setDialog] = useState<'export' | 'snippets'>();
  const sql = `select * from ${sqlName(frame.handle)} limit 100`;
  const query = hrefOf('sql', [], { q: sql, engine: 'local' });
  const copyLink = (): void =>
    notify(copyText(location.href) ? 'Copied the link' : 'The browser did not let it be copied');
  useEffect(
    () =>
      offerCommands('frame', [
        { id: 'frame-query', title: `Query ${frame.handle}`, run: () => goTo(query) },
        { id: 'frame-export', title: `Export ${frame.handle}`, run: () => setDialog('export') },
        { id: 'frame-snippets', title: `Use ${frame.handle} from a program`, run: () => setDialog('snippets') },
        { id: 'frame-link', title: 'Copy the link to this view', run: copyLink },
      ]),
    [frame.handle],
  );
  return (
    <>
      <a class="button" href={query}>
        <Icon name="terminal" /> Query
      </a>
      <button type="button" class="button" onClick={() => setDialog('export')}>
        <Icon name="download" /> Export
      </button>
      <button type="button" class="icon-button" title="Copy the link to this view" onClick={copyLink}>
        <Icon name="link" />
        <span class="visually-hidden">Copy link</span>
      </button>
      <button type="button" class="icon-button" title="Use it from a program" onClick={() => setDialog('snippets')}>
        <Icon name="copy" />
        <span class="visually-hidden">Use it from a program</span>
      </button>
      {dialog === 'export' && <FrameExportDialog frame={frame} onClose={() => setDialog(undefined)} />}
      {dialog === 'snippets' && <SnippetsDialog frame={frame} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function Tabs({ model, frame }: { readonly model: FrameModel; readonly frame: Frame }) {
  const asked = place.value.parameters.get('tab') ?? 'rows';
  const tab: Tab = asked in tabs ? (asked as Tab) : 'rows';
  const names = Object.keys(tabs) as Tab[];
  const select = (next: Tab): void => {
    const parameters = Object.fromEntries(place.peek().parameters);
    goTo(hrefOf('frames', [model.handle], { ...parameters, tab: next === 'rows' ? undefined : next }), {
      replace: true,
    });
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Parts of the frame" onKeyDown={moveBetweenTabs}>
        {names.map((name) => (
          <button
            key={name}
            id={`frame-tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="frame-panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => select(name)}
          >
            {tabs[name]}
          </button>
        ))}
      </div>
      <LossBar model={model} />
      <div id="frame-panel" class="frame-panel" role="tabpanel" aria-labelledby={`frame-tab-${tab}`}>
        {tab === 'rows' && <RowsTab model={model} />}
        {tab === 'columns' && <ColumnsTab frame={frame} />}
        {tab === 'plot' && <PlotTab frame={frame} />}
        {tab === 'details' && <DetailsTab frame={frame} onChange={() => void model.describe()} />}
      </div>
    </>
  );
}
