import { LatencySeries } from './latency-series.ts';
import { RequestCounter } from './request-counter.ts';

/** What is counted and timed as the server works. Each part has its own of these; whoever tells of the server reads them. */
export class ServerTimings {
  readonly http = new RequestCounter();
  readonly grpc = new RequestCounter();
  /** By engine, operation and type of error. */
  readonly statements = new LatencySeries();
  /** By mode and type of error. */
  readonly puts = new LatencySeries();
  /** By what waited for it. */
  readonly disk = new LatencySeries();
}
