import type { Answer } from '#client/api.ts';
import { sendJson } from '../api/request.ts';
import type { PlotColumn, PlotSettings } from './plot-settings.ts';

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

export type PlotAnswer = Answer<'POST /plot'>;
export type PlotSeries = PlotAnswer['series'][number];

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
