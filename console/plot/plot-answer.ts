import { sendJson } from '../api/request.ts';
import type { PlotColumn, PlotKind, PlotSettings } from './plot-settings.ts';

/** The source of a plot. */
export type PlotSource =
  | { readonly kind: 'frame'; readonly handle: string; readonly columns: readonly PlotColumn[] }
  | {
      readonly kind: 'statement';
      readonly sql: string;
      readonly engine?: string | undefined;
      /** The values of its parameters. */
      readonly params?: unknown;
      readonly columns: readonly PlotColumn[];
    };

export interface PlotSeries {
  readonly column: string | null;
  readonly group: string | null;
  readonly x: readonly (number | string)[];
  readonly y: readonly (number | null)[];
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

/** As POST /plot answers. Times are µs since 1970. */
export interface PlotAnswer {
  readonly kind: PlotKind;
  readonly x: {
    readonly column: string | null;
    readonly type: 'time' | 'number' | 'category' | 'row';
    readonly from: number | null;
    readonly to: number | null;
  };
  readonly series: readonly PlotSeries[];
  readonly cells?: {
    readonly columns: number;
    readonly rows: number;
    readonly y: { readonly from: number; readonly to: number };
    readonly counts: readonly number[];
  };
  readonly step?: number;
  readonly rows: number;
  readonly points: number;
  /** Values that are NaN or infinite. */
  readonly not_finite?: number;
  readonly complete: boolean;
  readonly cut: boolean;
  readonly series_count: number;
  readonly category_count?: number;
}

/** A part of x, in its unit. */
export interface XRange {
  readonly from: number;
  readonly to: number;
}

export interface PlotSize {
  /** Device pixels. */
  readonly width: number;
  readonly height: number;
}

export function requestPlot(
  source: PlotSource,
  settings: PlotSettings,
  { width, height }: PlotSize,
  range: XRange | undefined,
  signal: AbortSignal,
): Promise<PlotAnswer> {
  const { kind, x, y, series, aggregate } = settings;
  const from =
    source.kind === 'frame'
      ? { handle: source.handle }
      : { sql: source.sql, engine: source.engine, params: source.params };
  const body = {
    ...from,
    kind,
    ...(x !== '' && { x }),
    ...(kind !== 'histogram' && { y }),
    ...(series !== '' && { series }),
    ...(kind === 'bars' && { aggregate }),
    width: Math.max(2, Math.min(16_384, Math.round(width))),
    height: Math.max(2, Math.min(16_384, Math.round(height))),
    ...range,
  };
  return sendJson<PlotAnswer>('/plot', body, { signal });
}
