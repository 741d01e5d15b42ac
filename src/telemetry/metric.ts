import type { LatencySeries } from './latency-series.ts';

/** What one metric has to tell: a number, or one for each combination of the values of its labels. */
export type Figures = number | undefined | Iterable<readonly [values: readonly string[], value: number]>;

interface MetricFacts {
  /** As Prometheus names it; of a counter without `_total`. */
  readonly name: string;
  /** One sentence for those who build dashboards. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Told only to those who may see all tenants: left out for the others. */
  readonly isOfTenants?: boolean;
}

/** A row of the table of metrics: what it is called, what it means, and where it is read from. */
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
