import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { ErrorMessage } from '../widgets/error-message.tsx';
import { Icon } from '../widgets/icon.tsx';
import { notify } from '../widgets/notices.tsx';
import { saveBlob } from '../widgets/save-blob.ts';
import type { Chart } from './chart.ts';
import type { ChartView } from './chart-view.ts';
import { coloursOf, type PlotColours, useScreenChanges } from './colours.ts';
import type { PlotSize, PlotSource, XRange } from './plot-answer.ts';
import { PlotCanvas } from './plot-canvas.tsx';
import { PlotLegend } from './plot-legend.tsx';
import { changedSettings, fitSettings, mostUsualSeries, type PlotSettings } from './plot-settings.ts';
import { xExtent } from './plot-shapes.ts';
import { PlotTable } from './plot-table.tsx';
import { plotCsv, seriesName, shownText, summaryText } from './plot-text.ts';
import { PlotToolbar } from './plot-toolbar.tsx';
import { useFollowedRows, usePlot } from './use-plot.ts';

export interface PlotPanelProps {
  readonly source: PlotSource;
  /** Initial settings. Columns that do not exist are chosen anew. */
  readonly settings?: PlotSettings | undefined;
  readonly onSettings?: ((settings: PlotSettings) => void) | undefined;
}

/** Draws a frame or a statement; the server reduces it to the resolution of the screen. */
export function PlotPanel({ source, settings: given, onSettings }: PlotPanelProps) {
  const [chosen, setChosen] = useState(given);
  const columnsKey = JSON.stringify(source.columns.map(({ name, type }) => [name, type]));
  const settings = useMemo(() => fitSettings(chosen, source.columns), [chosen, columnsKey]);
  const [range, setRange] = useState<XRange | undefined>();
  const [size, setSize] = useState<PlotSize | undefined>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<number | undefined>();
  const [refreshes, setRefreshes] = useState(0);
  const [isFollowing, setFollowing] = useState(false);
  const [hasTable, setTable] = useState(false);
  const host = useRef<HTMLElement>(null);
  const chart = useRef<Chart | null>(null);
  const screenChanges = useScreenChanges();
  const [colours, setColours] = useState<PlotColours | undefined>();
  useEffect(() => {
    if (host.current !== null) setColours(coloursOf(host.current));
  }, [screenChanges]);
  const what = source.kind === 'frame' ? source.handle : source.sql;
  useEffect(() => setRange(undefined), [what, settings.x, settings.kind === 'histogram']);
  const { plot, error, isBusy } = usePlot(source, settings, size, range, refreshes);
  useEffect(() => {
    const isOurs = chosen === undefined && settings.series !== '';
    if (isOurs && plot !== undefined && plot.series_count > mostUsualSeries) setChosen({ ...settings, series: '' });
  }, [plot]);
  useFollowedRows(source, settings, isFollowing, (greatest) => {
    // A part of it moves along; the whole grows.
    if (range !== undefined && greatest !== undefined)
      setRange({ from: greatest - (range.to - range.from), to: greatest });
    else setRefreshes((count) => count + 1);
  });
  const change = (part: Partial<PlotSettings>): void => {
    const next = changedSettings(settings, part, source.columns);
    setChosen(next);
    onSettings?.(next);
  };
  const view = useMemo((): ChartView | undefined => {
    if (plot === undefined || colours === undefined) return undefined;
    const all = plot.series.map((one, i) => ({
      one,
      name: seriesName(one, plot, settings),
      colour: colours.series[i % colours.series.length] ?? '',
    }));
    const drawn = all.filter(({ name }) => !hidden.has(name));
    return {
      plot: { ...plot, series: drawn.map(({ one }) => one) },
      seriesNames: drawn.map(({ name }) => name),
      seriesColours: plot.cells === undefined ? drawn.map(({ colour }) => colour) : colours.series,
      settings,
      range,
      colours,
    };
  }, [plot, colours, hidden, settings.zone, settings.logX, settings.logY]);
  const extent = plot === undefined ? undefined : (range ?? rangeOf(xExtent(plot)));
  const canZoom = plot !== undefined && plot.x.type !== 'category' && extent !== undefined;
  const move = (share: number): void => {
    if (!canZoom) return;
    const by = (extent.to - extent.from) * share;
    setRange({ from: extent.from + by, to: extent.to + by });
  };
  const scale = (factor: number): void => {
    if (!canZoom) return;
    const [middle, half] = [(extent.from + extent.to) / 2, ((extent.to - extent.from) / 2) * factor];
    setRange({ from: middle - half, to: middle + half });
  };
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  const summary = plot === undefined ? 'The plot' : summaryText(plot, settings);
  const name = source.kind === 'frame' ? source.handle.replaceAll('/', '-') : 'plot';
  const save = async (kind: 'png' | 'svg' | 'csv'): Promise<void> => {
    if (plot === undefined || chart.current === null) return;
    try {
      if (kind === 'png') saveBlob(await chart.current.png(), `${name}.png`);
      else if (kind === 'svg')
        saveBlob(new Blob([chart.current.svg(summary)], { type: 'image/svg+xml' }), `${name}.svg`);
      else saveBlob(new Blob([plotCsv(plot, settings)], { type: 'text/csv' }), `${name}.csv`);
    } catch (failure) {
      notify(messageOf(failure), { isError: true });
    }
  };
  return (
    <section class="plot-panel" aria-label="Plot" aria-busy={isBusy} ref={host}>
      <PlotToolbar settings={settings} columns={source.columns} onChange={change} />
      <div class="plot-bar">
        <p class="plot-shown" role="status">
          {plot === undefined ? (error === undefined ? 'Drawing …' : '') : shownText(plot)}
        </p>
        <div class="plot-actions">
          <Action icon="zoom-in" title="Zoom in (+)" isOff={!canZoom} act={() => scale(0.5)} />
          <Action icon="zoom-out" title="Zoom out (−)" isOff={!canZoom} act={() => scale(2)} />
          <Action icon="chevron-left" title="Earlier (←)" isOff={!canZoom} act={() => move(-0.25)} />
          <Action icon="chevron-right" title="Later (→)" isOff={!canZoom} act={() => move(0.25)} />
          <Action
            icon="refresh"
            title="Show all (0, double click)"
            isOff={range === undefined}
            act={() => setRange(undefined)}
          />
          {source.kind === 'frame' && (
            <button type="button" class="button" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
              <Icon name={isFollowing ? 'pause' : 'play'} /> Live
            </button>
          )}
          <button type="button" class="button" aria-pressed={hasTable} onClick={() => setTable(!hasTable)}>
            <Icon name="table" /> Table
          </button>
          {(['png', 'svg', 'csv'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              class="button"
              disabled={plot === undefined}
              title={`Save as ${kind.toUpperCase()}`}
              onClick={() => void save(kind)}
            >
              {kind.toUpperCase()}
            </button>
          ))}
        </div>
      </div>
      <ErrorMessage error={error} />
      <PlotCanvas
        view={view}
        summary={summary}
        chart={chart}
        onSize={setSize}
        onZoom={setRange}
        onReset={() => setRange(undefined)}
        onCursor={setCursor}
        onMove={move}
        onScale={scale}
      />
      {plot !== undefined && colours !== undefined && (
        <PlotLegend
          plot={plot}
          settings={settings}
          colours={colours.series}
          hidden={hidden}
          cursor={cursor}
          onToggle={toggle}
        />
      )}
      {hasTable && plot !== undefined && <PlotTable plot={plot} settings={settings} />}
    </section>
  );
}

function rangeOf(extent: readonly [number, number] | undefined): XRange | undefined {
  return extent === undefined ? undefined : { from: extent[0], to: extent[1] };
}

interface ActionProps {
  readonly icon: 'zoom-in' | 'zoom-out' | 'chevron-left' | 'chevron-right' | 'refresh';
  readonly title: string;
  readonly isOff: boolean;
  act(): void;
}

function Action({ icon, title, isOff, act }: ActionProps) {
  return (
    <button type="button" class="icon-button" title={title} aria-label={title} disabled={isOff} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
