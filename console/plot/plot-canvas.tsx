import { useEffect, useRef } from 'preact/hooks';
import { Chart } from './chart.ts';
import { type ChartView, haveSameAxes } from './chart-view.ts';
import type { PlotSize, XRange } from './plot-answer.ts';
import { loadUPlot } from './uplot.ts';

export interface PlotCanvasProps {
  /** Undefined while there is nothing to show. */
  readonly view: ChartView | undefined;
  readonly summary: string;
  readonly chart: { current: Chart | null };
  onSize(size: PlotSize): void;
  onZoom(range: XRange): void;
  onReset(): void;
  onCursor(x: number | undefined): void;
  /** Shifts by a share of the width, or multiplies the width. */
  onMove(share: number): void;
  onScale(factor: number): void;
}

/** Size of the axes, before they are drawn. */
const axes = { width: 70, height: 50 };

/** The plot itself. Keys: arrows move, + and − zoom, 0 shows all. */
export function PlotCanvas(props: PlotCanvasProps) {
  const { view, summary, chart } = props;
  const host = useRef<HTMLDivElement>(null);
  const shown = useRef<ChartView | undefined>(undefined);
  const events = useRef(props);
  events.current = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const tellSize = (): void => {
      const { clientWidth, clientHeight } = element;
      if (clientWidth === 0 || clientHeight === 0) return;
      chart.current?.resize();
      const drawn = chart.current?.size;
      events.current.onSize({
        width: drawn?.width ?? (clientWidth - axes.width) * devicePixelRatio,
        height: drawn?.height ?? (clientHeight - axes.height) * devicePixelRatio,
      });
    };
    const observer = new ResizeObserver(tellSize);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    let isCurrent = true;
    void loadUPlot().then((UPlot) => {
      const element = host.current;
      if (!isCurrent || element === null || view === undefined) return;
      if (chart.current !== null && shown.current !== undefined && haveSameAxes(shown.current, view)) {
        chart.current.show(view);
      } else {
        chart.current?.destroy();
        chart.current = new Chart(UPlot, element, view, {
          onZoom: (range) => events.current.onZoom(range),
          onReset: () => events.current.onReset(),
          onCursor: (x) => events.current.onCursor(x),
        });
      }
      shown.current = view;
    });
    return () => {
      isCurrent = false;
    };
  }, [view]);
  useEffect(
    () => () => {
      chart.current?.destroy();
      chart.current = null;
    },
    [],
  );
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => props.onMove(-0.25),
    ArrowRight: () => props.onMove(0.25),
    '+': () => props.onScale(0.5),
    '=': () => props.onScale(0.5),
    '-': () => props.onScale(2),
    '0': () => props.onReset(),
  };
  return (
    <div
      class="plot-canvas"
      ref={host}
      role="img"
      aria-label={summary}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is moved and zoomed by keys
      tabIndex={0}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      }}
    />
  );
}
