import type { LatencySeries } from './latency-series.ts';

/** The values of one metric: a number, or one for each combination of the values of its labels. */
export type Figures = number | undefined | Iterable<readonly [values: readonly string[], value: number]>;

interface MetricFacts {
  /** As Prometheus names it; of a counter without `_total`. */
  readonly name: string;
  /** One sentence for authors of dashboards. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Only for callers that may see all tenants. */
  readonly isOfTenants?: boolean;
}

/** A row of the table of metrics: its name, its meaning, and its source. */
export type Metric<Sources> = MetricFacts &
  (
    | { readonly kind: 'counter' | 'gauge'; read(sources: Sources): Figures }
    | {
        readonly kind: 'histogram';
        /** Upper bounds of its buckets. */
        readonly limitsMs: readonly number[];
        read(sources: Sources): LatencySeries;
      }
  );
