import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 20;
/** Older figures do not describe the present. */
const windowMs = 60_000;

export interface EventLoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The delay of due tasks. Measured while it is read: an idle server does not wake up for it. */
export class EventLoopMonitor implements Disposable {
  #histogram: IntervalHistogram | undefined;
  #sinceMs = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #idleMs: number;

  /** `idleMs`: time without a read after which measuring stops. */
  constructor(idleMs = windowMs) {
    this.#idleMs = idleMs;
  }

  /** Since at most a minute. Undefined where nothing was measured yet. */
  read(): EventLoopDelay | undefined {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this[Symbol.dispose](), this.#idleMs).unref();
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: resolutionMs });
      this.#histogram.enable();
      this.#sinceMs = performance.now();
    }
    const histogram = this.#histogram;
    if (histogram.count === 0) return undefined;
    // The time between two looks is part of each value.
    const delay = (ns: number): number => Math.max(0, ns / 1e6 - resolutionMs);
    const read = {
      p50Ms: delay(histogram.percentile(50)),
      p99Ms: delay(histogram.percentile(99)),
      maxMs: delay(histogram.max),
    };
    if (performance.now() - this.#sinceMs > windowMs) {
      histogram.reset();
      this.#sinceMs = performance.now();
    }
    return read;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}
