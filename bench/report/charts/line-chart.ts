import { legendOf } from './legend.ts';
import { type Scale, scaleOf } from './scale.ts';
import { chartWidth, element, escapeText, seriesClass, shortNumber, svgDocument, textElement } from './svg.ts';

export interface LineSeries {
  readonly name: string;
  /** Number of its colour and dashes, so that a name looks alike in all charts. Default: its place. */
  readonly look?: number;
  /** From left to right. An undefined y is a gap. */
  readonly points: readonly { readonly x: number; readonly y: number | undefined }[];
}

export interface LineChart {
  readonly title: string;
  readonly x: {
    readonly label: string /** Names instead of numbers, for x = 0, 1, 2 … */;
    readonly names?: readonly string[];
  };
  readonly y: { readonly label: string; readonly kind: 'linear' | 'log' };
  readonly series: readonly LineSeries[];
}

const plotHeight = 260;
const left = 70;
const right = 20;
const mostMarked = 30;

/** A file of SVG: lines with axes, their words and a legend. */
export function lineChart({ title, x, y, series }: LineChart): string {
  const looks = series.map(({ look }, at) => look ?? at);
  const legend = legendOf(
    series.map(({ name }, at) => ({ name, look: looks[at] ?? at })),
    50,
  );
  const top = legend.bottom + 26;
  const bottom = top + plotHeight;
  const points = series.flatMap((each) => each.points);
  const toX = xScale(
    x.names,
    points.map((point) => point.x),
  );
  const values = points.flatMap((point) => point.y ?? []);
  const toY = scaleOf({ kind: y.kind, values, from: bottom, to: top });
  const body = [
    ...legend.body,
    textElement(y.label, { x: 16, y: top - 12 }),
    ...toY.ticks.flatMap((tick) => yLine(tick, toY)),
    ...toX.ticks.map((tick) => xWords(x.names?.[tick] ?? shortNumber(tick), toX.toPixel(tick), bottom)),
    textElement(x.label, { x: (left + chartWidth - right) / 2, y: bottom + 42, 'text-anchor': 'middle' }),
    ...series.flatMap((each, at) => drawn(each, looks[at] ?? at, toX, toY)),
  ];
  const summary = `${y.label} against ${x.label}: ${series.map(({ name }) => name).join(', ')}`;
  return svgDocument(title, summary, bottom + 56, body);
}

function xScale(names: readonly string[] | undefined, values: readonly number[]): Scale {
  const from = left;
  const to = chartWidth - right;
  if (names === undefined) return scaleOf({ kind: 'linear', values, from, to, lines: 8 });
  const step = (to - from) / names.length;
  return { toPixel: (at) => from + (at + 0.5) * step, ticks: [...names.keys()] };
}

function yLine(tick: number, { toPixel }: Scale): string[] {
  const y = toPixel(tick);
  return [
    element('path', { class: 'grid', d: `M${left} ${y.toFixed(1)}H${chartWidth - right}` }),
    textElement(shortNumber(tick), { x: left - 8, y: y + 4, 'text-anchor': 'end' }),
  ];
}

function xWords(words: string, x: number, bottom: number): string {
  return textElement(words, { x, y: bottom + 20, 'text-anchor': 'middle' });
}

function drawn({ name, points }: LineSeries, look: number, toX: Scale, toY: Scale): string[] {
  const place = (x: number, y: number): string => `${toX.toPixel(x).toFixed(1)} ${toY.toPixel(y).toFixed(1)}`;
  let path = '';
  let isDown = false;
  for (const { x, y } of points) {
    const isThere = y !== undefined && (y > 0 || toY.ticks[0] === 0);
    if (isThere) path += `${isDown ? 'L' : 'M'}${place(x, y)}`;
    isDown = isThere;
  }
  const line = element('path', { class: `line ${seriesClass(look)}`, d: path }, element('title', {}, escapeText(name)));
  if (points.length > mostMarked) return [line];
  const marks = points.flatMap(({ x, y }) =>
    y === undefined
      ? []
      : element(
          'circle',
          { class: `area ${seriesClass(look)}`, cx: toX.toPixel(x), cy: toY.toPixel(y), r: 3.5 },
          element('title', {}, escapeText(`${name}: ${shortNumber(y)}`)),
        ),
  );
  return [line, ...marks];
}
