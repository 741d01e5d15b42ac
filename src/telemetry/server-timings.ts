import { LatencySeries } from './latency-series.ts';
import { RequestCounter } from './request-counter.ts';

/** Counters and timings of the running server. Each part has its own of these; metrics and statistics read them. */
export class ServerTimings {
  readonly http = new RequestCounter();
  readonly grpc = new RequestCounter();
  /** By engine, operation and type of error. */
  readonly statements = new LatencySeries();
  /** By mode and type of error. */
  readonly puts = new LatencySeries();
  /** By the kind of waiting work. */
  readonly disk = new LatencySeries();
}
