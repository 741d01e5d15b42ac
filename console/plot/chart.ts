import type UPlot from 'uplot';
import { type ChartView, hasFineTimes } from './chart-view.ts';
import { paintLegend, paintShape } from './paint-shapes.ts';
import type { XRange } from './plot-answer.ts';
import { type PlotScale, plotShapes, type Shape, xExtent, yExtent } from './plot-shapes.ts';
import { plotSvg, type SvgTick } from './plot-svg.ts';
import { numberText } from './plot-text.ts';
import { xAxis } from './x-axis.ts';

export interface ChartEvents {
  onZoom(range: XRange): void;
  onReset(): void;
  /** x under the pointer; undefined where it has left. */
  onCursor(x: number | undefined): void;
}

/** A click is no zoom. */
const leastSelection = 5;

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

  /** Size of the shapes, in device pixels. */
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
    paintLegend(context, this.#view, this.#uplot.bbox.left);
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
      // Here uPlot keeps its last ticks.
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

  /** x at this many CSS pixels from the left of the shapes. */
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
    const isTime = plot.x.type === 'time' && !hasFineTimes(this.#view);
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
        { ...axis, ...xAxis(() => this.#view, this.#element.clientWidth) },
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
}
