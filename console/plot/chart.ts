import type UPlot from 'uplot';
import type { PlotColours } from './colours.ts';
import type { PlotAnswer, XRange } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';
import { categoriesOf, type PlotScale, plotShapes, type Shape, xExtent, yExtent } from './plot-shapes.ts';
import { plotSvg, type SvgTick } from './plot-svg.ts';
import { numberText, timeText } from './plot-text.ts';

export interface ChartView {
  /** Without the series that are hidden. */
  readonly plot: PlotAnswer;
  /** One for each of them. */
  readonly seriesColours: readonly string[];
  readonly seriesNames: readonly string[];
  readonly settings: PlotSettings;
  readonly range: XRange | undefined;
  readonly colours: PlotColours;
}

export interface ChartEvents {
  onZoom(range: XRange): void;
  onReset(): void;
  /** x under the pointer; undefined where it has left. */
  onCursor(x: number | undefined): void;
}

/** Shorter spans of time have no ticks of their own in uPlot. */
const shortestTimeUs = 50_000;
/** A click is no zoom. */
const leastSelection = 5;

const day = '\n{YYYY}-{MM}-{DD}';
const minute = `${day} {HH}:{mm}`;

/** Least step in ms, what a tick has, and what it has in a second line where year, month, day, hour, minute, second change. */
const timeTicks: UPlot.Axis.Values = [
  [31_536_000_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200_000, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400_000, '{MM}-{DD}', '\n{YYYY}', null, null, null, null, null, 1],
  [60_000, '{HH}:{mm}', day, null, day, null, null, null, 1],
  [1000, '{HH}:{mm}:{ss}', day, null, day, null, null, null, 1],
  [1, ':{ss}.{fff}', minute, null, minute, null, minute, null, 1],
];

/** A plot on a canvas: uPlot has the axes, the pointer and the selection; the shapes are ours. */
export class Chart {
  readonly #uplot: UPlot;
  readonly #element: HTMLElement;
  #view: ChartView;

  constructor(Constructor: typeof UPlot, element: HTMLElement, view: ChartView, events: ChartEvents) {
    this.#view = view;
    this.#element = element;
    this.#uplot = new Constructor(this.#options(Constructor, events), this.#data(), element);
    this.#uplot.over.addEventListener('dblclick', events.onReset);
  }

  /** Whether another view can be shown without new axes. */
  static isAlike(a: ChartView, b: ChartView): boolean {
    return structureOf(a) === structureOf(b) && a.colours === b.colours;
  }

  show(view: ChartView): void {
    this.#view = view;
    this.#uplot.setData(this.#data());
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#element;
    if (width > 0 && height > 0) this.#uplot.setSize({ width, height });
  }

  destroy(): void {
    this.#uplot.destroy();
  }

  /** Of the shapes, in device pixels. */
  get size(): { readonly width: number; readonly height: number } {
    const { width, height } = this.#uplot.bbox;
    return { width, height };
  }

  png(): Promise<Blob> {
    const { canvas } = this.#uplot.ctx;
    const copy = document.createElement('canvas');
    const legend = Math.round(26 * devicePixelRatio);
    copy.width = canvas.width;
    copy.height = canvas.height + legend;
    const context = copy.getContext('2d');
    if (context === null) throw new Error('there is no canvas');
    context.fillStyle = this.#view.colours.surface;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, legend);
    this.#paintLegend(context);
    return new Promise((resolve, reject) =>
      copy.toBlob(
        (blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)),
        'image/png',
      ),
    );
  }

  svg(title: string): string {
    const { bbox, width, height, axes } = this.#uplot;
    const [left, top, inner, tall] = [bbox.left, bbox.top, bbox.width, bbox.height].map(
      (n) => n / devicePixelRatio,
    ) as [number, number, number, number];
    const legendHeight = 24;
    const down = top + legendHeight;
    const ticks = (axis: UPlot.Axis | undefined, scale: 'x' | 'y', start: number): SvgTick[] => {
      // uPlot keeps what it has drawn there.
      const { _splits: splits = [], _values: values = [] } = (axis ?? {}) as {
        _splits?: readonly number[];
        _values?: readonly (string | number | null)[];
      };
      return splits.map((split, i) => ({
        at: start + this.#uplot.valToPos(split, scale),
        label: String(values[i] ?? ''),
      }));
    };
    const { seriesNames, seriesColours, colours } = this.#view;
    return plotSvg({
      width,
      height: height + legendHeight,
      frame: [left, down, inner, tall],
      shapes: this.#shapes(false, left, down),
      xTicks: ticks(axes[0], 'x', left),
      yTicks: ticks(axes[1], 'y', down),
      title,
      legend: seriesNames.map((name, i) => ({ name, colour: seriesColours[i] ?? '' })),
      colours,
    });
  }

  /** x at so many CSS pixels from the left of the shapes. */
  xAt(left: number): number {
    return this.#uplot.posToVal(left, 'x') * this.#unit();
  }

  /** uPlot counts times in ms. */
  #unit(): number {
    return this.#view.plot.x.type === 'time' ? 1000 : 1;
  }

  #data(): UPlot.AlignedData {
    const [from, to] = this.#xRange();
    return [
      [from, to],
      [null, null],
    ];
  }

  #xRange(): [number, number] {
    const { plot, range, settings } = this.#view;
    const [from, to] = range === undefined ? (xExtent(plot) ?? [0, 1]) : [range.from, range.to];
    const unit = this.#unit();
    if (!settings.logX || plot.x.type !== 'number') return [from / unit, to / unit];
    const high = to > 0 ? to : 1;
    return [from > 0 ? from : high / 1e6, high];
  }

  #options(Constructor: typeof UPlot, events: ChartEvents): UPlot.Options {
    const { plot, settings, colours } = this.#view;
    const isTime = plot.x.type === 'time' && !isFine(this.#view);
    const isLogX = settings.logX && plot.x.type === 'number';
    const axis: UPlot.Axis = {
      stroke: colours.text,
      font: '12px system-ui, sans-serif',
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1 },
    };
    return {
      width: Math.max(this.#element.clientWidth, 50),
      height: Math.max(this.#element.clientHeight, 50),
      ms: 1,
      tzDate: (ms) => (settings.zone === 'utc' ? Constructor.tzDate(new Date(ms), 'Etc/UTC') : new Date(ms)),
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: isTime, distr: isLogX ? 3 : 1, range: () => this.#xRange() },
        y: {
          distr: settings.logY ? 3 : 1,
          range: () =>
            [...(yExtent(this.#view.plot, settings.logY) ?? [settings.logY ? 0.1 : 0, 1])] as [number, number],
        },
      },
      axes: [
        { ...axis, ...this.#xAxis() },
        {
          ...axis,
          size: (_, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((text) => String(text ?? '').length)),
          values: (_, splits) => splits.map((value) => (value === null ? '' : numberText(value))),
        },
      ],
      series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
      hooks: {
        draw: [() => this.#paint()],
        setCursor: [({ cursor }) => events.onCursor((cursor.left ?? -1) < 0 ? undefined : this.xAt(cursor.left ?? 0))],
        setSelect: [
          ({ select }) => {
            if (select.width < leastSelection) return;
            if (plot.x.type !== 'category') {
              events.onZoom({ from: this.xAt(select.left), to: this.xAt(select.left + select.width) });
            }
            this.#uplot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
  }

  #xAxis(): Partial<UPlot.Axis> {
    const { plot, settings } = this.#view;
    if (plot.x.type === 'category') {
      return {
        rotate: isCrowded(this.#view, this.#element.clientWidth) ? -45 : 0,
        size: isCrowded(this.#view, this.#element.clientWidth) ? 90 : 40,
        splits: () => categoriesOf(this.#view.plot).map((_, i) => i),
        values: (_, splits) => splits.map((i) => shortened(categoriesOf(this.#view.plot)[i] ?? '')),
        grid: { show: false },
      };
    }
    if (plot.x.type === 'time' && isFine(this.#view)) {
      return {
        space: 130,
        values: (_, splits) => splits.map((ms) => timeText(Math.round(ms * 1000), settings.zone).slice(11)),
      };
    }
    if (plot.x.type === 'time') return { values: timeTicks, space: 76 };
    return { values: (_, splits) => splits.map((value) => (value === null ? '' : numberText(value))) };
  }

  #shapes(isCanvas: boolean, left = 0, top = 0): Shape[] {
    const { bbox } = this.#uplot;
    const unit = this.#unit();
    const scale: PlotScale = {
      x: (value) => left + this.#uplot.valToPos(value / unit, 'x', isCanvas),
      y: (value) => top + this.#uplot.valToPos(value, 'y', isCanvas),
      top: isCanvas ? bbox.top : top,
      bottom: isCanvas ? bbox.top + bbox.height : top + bbox.height / devicePixelRatio,
    };
    return plotShapes(this.#view.plot, scale, this.#view.seriesColours);
  }

  #paint(): void {
    const { ctx, bbox } = this.#uplot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const shape of this.#shapes(true)) paintShape(ctx, shape);
    ctx.restore();
  }

  #paintLegend(context: CanvasRenderingContext2D): void {
    const { seriesNames, seriesColours, colours } = this.#view;
    const unit = devicePixelRatio;
    let at = this.#uplot.bbox.left;
    context.font = `${12 * unit}px system-ui, sans-serif`;
    for (const [i, name] of seriesNames.entries()) {
      context.fillStyle = seriesColours[i] ?? '';
      context.fillRect(at, 8 * unit, 10 * unit, 10 * unit);
      context.fillStyle = colours.text;
      context.fillText(name, at + 14 * unit, 17 * unit);
      at += context.measureText(name).width + 30 * unit;
    }
  }
}

function paintShape(ctx: CanvasRenderingContext2D, shape: Shape): void {
  const unit = devicePixelRatio;
  ctx.globalAlpha = 'opacity' in shape ? shape.opacity : 1;
  ctx.beginPath();
  switch (shape.kind) {
    case 'line':
    case 'area': {
      const { points } = shape;
      for (let i = 0; i + 1 < points.length; i += 2) ctx.lineTo(points[i] ?? 0, points[i + 1] ?? 0);
      if (shape.kind === 'area') {
        ctx.fillStyle = shape.colour;
        ctx.fill();
      } else {
        // One point alone has no line.
        if (points.length === 2) ctx.rect((points[0] ?? 0) - unit, (points[1] ?? 0) - unit, 2 * unit, 2 * unit);
        ctx.strokeStyle = shape.colour;
        ctx.lineWidth = 1.3 * unit;
        ctx.lineJoin = 'round';
        ctx.stroke();
      }
      break;
    }
    case 'dots': {
      ctx.globalAlpha = 0.7;
      ctx.fillStyle = shape.colour;
      for (let i = 0; i + 1 < shape.points.length; i += 2) {
        const [x = 0, y = 0] = [shape.points[i], shape.points[i + 1]];
        ctx.moveTo(x, y);
        ctx.arc(x, y, 2 * unit, 0, 2 * Math.PI);
      }
      ctx.fill();
      break;
    }
    case 'boxes':
      ctx.fillStyle = shape.colour;
      for (const box of shape.boxes) ctx.rect(...box);
      ctx.fill();
      break;
    default:
      shape satisfies never;
  }
}

function isFine({ plot, range }: ChartView): boolean {
  const [from, to] = range === undefined ? (xExtent(plot) ?? [0, shortestTimeUs]) : [range.from, range.to];
  return to - from < shortestTimeUs;
}

function structureOf(view: ChartView): string {
  const { plot, settings } = view;
  return JSON.stringify([plot.x.type, isFine(view), settings.logX, settings.logY, settings.zone, isCrowded(view, 800)]);
}

const longestLabel = 14;

function isCrowded({ plot }: ChartView, width: number): boolean {
  const names = categoriesOf(plot);
  return names.reduce((sum, name) => sum + Math.min(name.length, longestLabel) * 8 + 12, 0) > width - 80;
}

function shortened(name: string): string {
  return name.length > longestLabel ? `${name.slice(0, longestLabel - 1)}…` : name;
}
