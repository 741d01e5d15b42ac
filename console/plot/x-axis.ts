import type UPlot from 'uplot';
import { revealedText } from '../widgets/hidden-characters.ts';
import { type ChartView, hasFineTimes, isCrowded, longestLabel } from './chart-view.ts';
import { categoriesOf } from './plot-shapes.ts';
import { numberText, timeText } from './plot-text.ts';

const day = '\n{YYYY}-{MM}-{DD}';
const minute = `${day} {HH}:{mm}`;

/** Least step in ms, the text of a tick, and its second line where year, month, day, hour, minute, second change. */
const timeTicks: UPlot.Axis.Values = [
  [31_536_000_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200_000, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400_000, '{MM}-{DD}', '\n{YYYY}', null, null, null, null, null, 1],
  [60_000, '{HH}:{mm}', day, null, day, null, null, null, 1],
  [1000, '{HH}:{mm}:{ss}', day, null, day, null, null, null, 1],
  [1, ':{ss}.{fff}', minute, null, minute, null, minute, null, 1],
];

/** The ticks of x. The view may be replaced by one with the same axes. */
export function xAxis(view: () => ChartView, width: number): Partial<UPlot.Axis> {
  const { plot, settings } = view();
  if (plot.x.type === 'category') {
    return {
      rotate: isCrowded(view(), width) ? -45 : 0,
      size: isCrowded(view(), width) ? 90 : 40,
      splits: () => categoriesOf(view().plot).map((_, i) => i),
      values: (_, splits) => splits.map((i) => shortened(revealedText(categoriesOf(view().plot)[i] ?? ''))),
      grid: { show: false },
    };
  }
  if (plot.x.type === 'time' && hasFineTimes(view())) {
    return {
      space: 130,
      values: (_, splits) => splits.map((ms) => timeText(Math.round(ms * 1000), settings.zone).slice(11)),
    };
  }
  if (plot.x.type === 'time') return { values: timeTicks, space: 76 };
  return { values: (_, splits) => splits.map((value) => (value === null ? '' : numberText(value))) };
}

function shortened(name: string): string {
  return name.length > longestLabel ? `${name.slice(0, longestLabel - 1)}…` : name;
}
