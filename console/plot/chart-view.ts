import type { PlotColours } from './colours.ts';
import type { PlotAnswer, XRange } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';
import { categoriesOf, xExtent } from './plot-shapes.ts';

/** The state of a chart. */
export interface ChartView {
  /** Without the series that are hidden. */
  readonly plot: PlotAnswer;
  /** One for each series. */
  readonly seriesColours: readonly string[];
  readonly seriesNames: readonly string[];
  readonly settings: PlotSettings;
  readonly range: XRange | undefined;
  readonly colours: PlotColours;
}

/** Shorter spans of time have no ticks of their own in uPlot. */
const shortestTimeUs = 50_000;
/** Characters of a category's name. */
export const longestLabel = 14;

/** Whether a chart can show another view without new axes. */
export function haveSameAxes(a: ChartView, b: ChartView): boolean {
  return axesKey(a) === axesKey(b) && a.colours === b.colours;
}

function axesKey(view: ChartView): string {
  const { plot, settings } = view;
  return JSON.stringify([
    plot.x.type,
    hasFineTimes(view),
    settings.logX,
    settings.logY,
    settings.zone,
    isCrowded(view, 800),
  ]);
}

/** Whether times are too close to each other for the ticks of uPlot. */
export function hasFineTimes({ plot, range }: ChartView): boolean {
  const [from, to] = range === undefined ? (xExtent(plot) ?? [0, shortestTimeUs]) : [range.from, range.to];
  return to - from < shortestTimeUs;
}

/** Whether the names of categories have no room beside each other. */
export function isCrowded({ plot }: ChartView, width: number): boolean {
  const names = categoriesOf(plot);
  return names.reduce((sum, name) => sum + Math.min(name.length, longestLabel) * 8 + 12, 0) > width - 80;
}
