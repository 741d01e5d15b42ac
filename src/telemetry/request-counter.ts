import type { ErrorCode } from '../core/errors/app-error.ts';
import { LatencyHistogram, type LatencyQuantiles } from './latency-histogram.ts';
import { LatencySeries } from './latency-series.ts';

/** A request whose answer is sent, or whose client is gone. */
export interface EndedRequest {
  /** The requested route: one of few. */
  readonly route: string;
  readonly method: string;
  readonly status: string;
  /** It was answered as a failure of the server, with any cause. */
  readonly hasFailed: boolean;
  /** The code of a fault that an operator should see. */
  readonly fault: ErrorCode | undefined;
  /** As `begin` gave it. */
  readonly beganMs: number;
  /** When the answer began. Undefined where it did not. */
  readonly answeredMs: number | undefined;
  /** It waited for an event: its duration has no meaning. */
  readonly hasWaited: boolean;
  /** Set if it is traced. */
  readonly traceId: string | undefined;
}

/** The requests of one listener. */
export class RequestCounter {
  /** Since the start. */
  requests = 0;
  failed = 0;
  underWay = 0;
  /** From the beginning of a request until all of its answer was taken. */
  readonly durations = new LatencySeries();
  /** Until its answer began: a reader that is slow is not among the reasons. */
  readonly firstBytes = new LatencySeries();
  /** Since the start, by code. */
  readonly faults = new Map<ErrorCode, number>();

  /** Gives when it began. */
  begin(): number {
    this.requests++;
    this.underWay++;
    return performance.now();
  }

  end({ route, method, status, hasFailed, fault, beganMs, answeredMs, hasWaited, traceId }: EndedRequest): void {
    this.underWay--;
    if (hasFailed) this.failed++;
    if (fault !== undefined) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (hasWaited) return;
    const nowMs = performance.now();
    this.durations.add(nowMs - beganMs, route, method, status, traceId, nowMs);
    if (answeredMs !== undefined) this.firstBytes.add(answeredMs - beganMs, route, '', '', traceId, nowMs);
  }

  /** For the last minute. Undefined if no request ended in it. */
  quantiles(): LatencyQuantiles | undefined {
    return LatencyHistogram.quantiles(this.durations.histograms(), performance.now());
  }
}
