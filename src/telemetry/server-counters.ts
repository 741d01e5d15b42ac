import { LatencyHistogram } from './latency-histogram.ts';

/** The requests of one listener. */
export class ListenerCounter {
  /** Since the start. */
  requests = 0;
  /** Of them, those that failed by a fault of the server or of what it stands on. */
  failed = 0;
  underWay = 0;
  readonly latencies = new LatencyHistogram();

  /** Gives when it began, for `end`. */
  begin(): number {
    this.requests++;
    this.underWay++;
    return performance.now();
  }

  /** `isTimed`: not of one that waited for something to happen. */
  end(beganMs: number, hasFailed: boolean, isTimed: boolean): void {
    this.underWay--;
    if (hasFailed) this.failed++;
    if (!isTimed) return;
    const nowMs = performance.now();
    this.latencies.add(nowMs - beganMs, nowMs);
  }
}

/** What the server counts of itself while it works. Whoever tells of it reads these. */
export class ServerCounters {
  readonly http = new ListenerCounter();
  readonly grpc = new ListenerCounter();
}
