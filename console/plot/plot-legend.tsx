import { revealedText } from '../widgets/hidden-characters.ts';
import { RevealedText } from '../widgets/revealed-text.tsx';
import type { PlotAnswer, PlotSeries } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';
import { numberText, seriesName, xText } from './plot-text.ts';

export interface PlotLegendProps {
  readonly plot: PlotAnswer;
  readonly settings: PlotSettings;
  readonly colours: readonly string[];
  /** Names of the hidden series. */
  readonly hidden: ReadonlySet<string>;
  readonly cursor: number | undefined;
  onToggle(name: string): void;
}

/** The series, with their values under the pointer. A click hides one. */
export function PlotLegend({ plot, settings, colours, hidden, cursor, onToggle }: PlotLegendProps) {
  if (plot.series.length === 0) return null;
  return (
    <div class="plot-legend">
      {plot.series.map((one, i) => {
        const name = seriesName(one, plot, settings);
        const at = cursor === undefined ? undefined : nearest(one, plot, cursor);
        return (
          <button
            key={name}
            type="button"
            aria-pressed={!hidden.has(name)}
            title={hidden.has(name) ? 'Show' : 'Hide'}
            onClick={() => onToggle(name)}
          >
            <span class="plot-swatch" style={{ backgroundColor: colours[i % colours.length] }} />
            <span class="plot-name">
              <RevealedText text={name} />
            </span>
            {at !== undefined && <span class="plot-value">{numberText(one.y[at] ?? null)}</span>}
          </button>
        );
      })}
      <span class="plot-at">{cursor === undefined ? '' : cursorText(plot, settings, cursor)}</span>
    </div>
  );
}

function cursorText(plot: PlotAnswer, settings: PlotSettings, cursor: number): string {
  if (plot.x.type === 'category') return revealedText(String(plot.series[0]?.x[Math.round(cursor)] ?? ''));
  return xText(plot.x.type === 'time' ? Math.round(cursor) : cursor, plot, settings.zone);
}

/** The point, or the bar, at a place of x. */
export function nearest({ x }: PlotSeries, plot: PlotAnswer, cursor: number): number | undefined {
  if (x.length === 0) return undefined;
  if (plot.x.type === 'category') return Math.min(x.length - 1, Math.max(0, Math.round(cursor)));
  if (plot.kind === 'scatter') return undefined;
  let [low, high] = [0, x.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Number(x[middle]) <= cursor) low = middle;
    else high = middle - 1;
  }
  if (plot.step !== undefined) return cursor < Number(x[low]) + plot.step && cursor >= Number(x[low]) ? low : undefined;
  const next = low + 1;
  return next < x.length && Number(x[next]) - cursor < cursor - Number(x[low]) ? next : low;
}
