import type { Timings } from '../core/logs/timings.ts';
import { LatencyHistogram } from './latency-histogram.ts';

/** The three words, empty if there are fewer, and their histogram. */
export type LatencySeriesEntry = readonly [values: readonly string[], histogram: LatencyHistogram];

/** A histogram for each combination of words: callers of `add` keep their number small. */
export class LatencySeries implements Timings {
  readonly #tree = new Map<string, Map<string, Thirds>>();

  add(ms: number, first: string, second = '', third = '', traceId?: string, nowMs = performance.now()): void {
    this.#of(first, second, third).add(ms, nowMs, traceId);
  }

  *entries(): Generator<LatencySeriesEntry> {
    for (const [first, seconds] of this.#tree) {
      for (const [second, thirds] of seconds) {
        for (const [third, histogram] of thirds) {
          yield [[first, second, third], histogram];
        }
      }
    }
  }

  *histograms(): Generator<LatencyHistogram> {
    for (const [, histogram] of this.entries()) yield histogram;
  }

  #of(first: string, second: string, third: string): LatencyHistogram {
    const seconds = childOf(this.#tree, first, newSeconds);
    return childOf(childOf(seconds, second, newThirds), third, newHistogram);
  }
}

type Thirds = Map<string, LatencyHistogram>;

const newSeconds = (): Map<string, Thirds> => new Map();
const newThirds = (): Thirds => new Map();
const newHistogram = (): LatencyHistogram => new LatencyHistogram();

function childOf<T>(parent: Map<string, T>, key: string, make: () => T): T {
  const known = parent.get(key);
  if (known !== undefined) return known;
  const made = make();
  parent.set(key, made);
  return made;
}
