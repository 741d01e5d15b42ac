import type { PlotAnswer, PlotSeries } from './plot-answer.ts';
import { extentOf } from './plot-text.ts';

/** From values to places on a surface; y counts downwards. */
export interface PlotScale {
  x(value: number): number;
  y(value: number): number;
  /** The highest and the lowest place of y. */
  readonly top: number;
  readonly bottom: number;
}

/** The shapes of a plot, for a canvas and for SVG alike. Points are x and y in turn. */
export type Shape =
  | { readonly kind: 'line'; readonly points: readonly number[]; readonly colour: string }
  | { readonly kind: 'area'; readonly points: readonly number[]; readonly colour: string; readonly opacity: number }
  | { readonly kind: 'dots'; readonly points: readonly number[]; readonly colour: string }
  | { readonly kind: 'boxes'; readonly boxes: readonly Box[]; readonly colour: string; readonly opacity: number };

export type Box = readonly [x: number, y: number, width: number, height: number];

/** Texts of x are drawn at 0, 1, 2 … */
export function categoriesOf(plot: PlotAnswer): readonly string[] {
  if (plot.x.type !== 'category') return [];
  return [...new Set(plot.series.flatMap(({ x }) => x.map(String)))];
}

export function plotShapes(plot: PlotAnswer, scale: PlotScale, colours: readonly string[]): Shape[] {
  const colourOf = (i: number): string => colours[i % colours.length] ?? 'gray';
  if (plot.cells !== undefined) return heatMap(plot, plot.cells, scale, colourOf(0));
  const categories = new Map(categoriesOf(plot).map((name, i) => [name, i]));
  return plot.series.flatMap((one, i): Shape[] => {
    const colour = colourOf(i);
    switch (plot.kind) {
      case 'line':
        return [{ kind: 'line', points: points(one.x, one.y, scale), colour }];
      case 'band':
        return [
          { kind: 'area', points: bandPoints(one, scale), colour, opacity: 0.22 },
          { kind: 'line', points: points(one.x, one.y, scale), colour },
        ];
      case 'scatter':
        return [{ kind: 'dots', points: points(one.x, one.y, scale), colour }];
      case 'bars':
      case 'histogram':
        return [{ kind: 'boxes', boxes: bars(plot, one, i, categories, scale), colour, opacity: 0.85 }];
      default:
        return plot.kind satisfies never;
    }
  });
}

/** The range of y, with a little room. Undefined if nothing is drawn. */
export function yExtent(plot: PlotAnswer, isLog: boolean): readonly [number, number] | undefined {
  if (plot.cells !== undefined)
    return plot.cells.y.to > plot.cells.y.from ? [plot.cells.y.from, plot.cells.y.to] : room(plot.cells.y.from);
  const values: number[] = [];
  for (const { y, low = [], high = [] } of plot.series) {
    for (const value of [...y, ...low, ...high]) if (value !== null && (!isLog || value > 0)) values.push(value);
  }
  if (values.length === 0) return undefined;
  const [least, most] = extentOf(values);
  if (isLog) return [least / 1.1, most * 1.1];
  if (plot.kind === 'bars' || plot.kind === 'histogram') {
    const [low, high] = [Math.min(0, least), Math.max(0, most)];
    return high > low ? [low - (low < 0 ? (high - low) * 0.04 : 0), high + (high - low) * 0.04] : [0, 1];
  }
  if (!(most > least)) return room(least);
  const margin = (most - least) * 0.04;
  return [least - margin, most + margin];
}

function room(value: number): readonly [number, number] {
  const half = value === 0 ? 1 : Math.abs(value) * 0.1;
  return [value - half, value + half];
}

/** The range of x: bars need room for the last one. */
export function xExtent(plot: PlotAnswer): readonly [number, number] | undefined {
  const categories = categoriesOf(plot);
  if (categories.length > 0) return [-0.5, categories.length - 0.5];
  const { from, to } = plot.x;
  if (from === null || to === null) return undefined;
  if (plot.step !== undefined) {
    const starts = plot.series.flatMap(({ x }) => x.map(Number));
    if (starts.length > 0) {
      const [first, last] = extentOf(starts);
      return [Math.min(from, first), Math.max(to, last + plot.step)];
    }
  }
  if (to > from) return [from, to];
  const half = plot.x.type === 'time' ? 500_000 : 0.5;
  return [from - half, to + half];
}

function points(xs: PlotSeries['x'], ys: PlotSeries['y'], scale: PlotScale): number[] {
  const placed: number[] = [];
  for (const [i, value] of ys.entries()) {
    if (value === null) continue;
    const [x, y] = [scale.x(Number(xs[i])), scale.y(value)];
    if (Number.isFinite(x) && Number.isFinite(y)) placed.push(x, y);
  }
  return placed;
}

function bandPoints({ x, low = [], high = [] }: PlotSeries, scale: PlotScale): number[] {
  const lower = points(x, low, scale);
  const area = points(x, high, scale);
  for (let i = lower.length - 2; i >= 0; i -= 2) area.push(lower[i] ?? 0, lower[i + 1] ?? 0);
  return area;
}

function bars(
  plot: PlotAnswer,
  { x, y }: PlotSeries,
  index: number,
  categories: ReadonlyMap<string, number>,
  scale: PlotScale,
): Box[] {
  const step = categories.size > 0 ? 1 : (plot.step ?? 1);
  const start = (value: number | string): number =>
    categories.size > 0 ? (categories.get(String(value)) ?? 0) - 0.5 : Number(value);
  const zero = Math.max(scale.top, Math.min(scale.bottom, finite(scale.y(0), scale.bottom)));
  const boxes: Box[] = [];
  for (const [i, value] of y.entries()) {
    if (value === null) continue;
    const [left, right] = [scale.x(start(x[i] ?? 0)), scale.x(start(x[i] ?? 0) + step)];
    const top = finite(scale.y(value), zero);
    const gap = right - left > 6 ? (right - left) * 0.1 : 0;
    const width = (right - left - gap) / plot.series.length;
    if (!Number.isFinite(width)) continue;
    const at = left + gap / 2 + width * index;
    boxes.push([at, Math.min(top, zero), Math.max(width, 0.5), Math.abs(zero - top)]);
  }
  return boxes;
}

function finite(value: number, otherwise: number): number {
  return Number.isFinite(value) ? value : otherwise;
}

/** Darker where more points are, by steps of their logarithm: few shapes, and few points stay visible. */
function heatMap(plot: PlotAnswer, cells: NonNullable<PlotAnswer['cells']>, scale: PlotScale, colour: string): Shape[] {
  const [from, to] = [plot.x.from ?? 0, plot.x.to ?? 0];
  const width = (to - from) / cells.columns;
  const height = (cells.y.to - cells.y.from) / cells.rows;
  let most = 1;
  for (let i = 2; i < cells.counts.length; i += 3) most = Math.max(most, cells.counts[i] ?? 0);
  const levels = 8;
  const boxes: Box[][] = Array.from({ length: levels }, () => []);
  for (let i = 0; i + 2 < cells.counts.length; i += 3) {
    const [column = 0, row = 0, count = 0] = cells.counts.slice(i, i + 3);
    const level = most === 1 ? levels - 1 : Math.floor((Math.log(count) / Math.log(most)) * (levels - 1));
    const [left, right] = [scale.x(from + width * column), scale.x(from + width * (column + 1))];
    const [bottom, top] = [scale.y(cells.y.from + height * row), scale.y(cells.y.from + height * (row + 1))];
    const box: Box = [left, top, Math.max(right - left, 1), Math.max(bottom - top, 1)];
    if (box.every(Number.isFinite)) boxes[level]?.push(box);
  }
  return boxes.map((those, level) => ({
    kind: 'boxes',
    boxes: those,
    colour,
    opacity: 0.2 + (0.8 * (level + 1)) / levels,
  }));
}
