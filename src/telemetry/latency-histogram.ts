/** Bounds of a decade: each at most a third above the one before, with those that dashboards expect. */
const perDecade = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5];
const firstDecade = -2;
/** The last one has all that took longer than two hours. */
const decades = 9;
/** Upper bounds of the buckets but the last, in milliseconds. */
const boundsMs = Float64Array.from({ length: perDecade.length * decades }, (_, index) => {
  const decade = firstDecade + Math.floor(index / perDecade.length);
  // Whole numbers divided, so that 0.005 s is that and not the number beside it.
  const digits = perDecade[index % perDecade.length] as number;
  return decade < 0 ? digits / 10 ** -decade : digits * 10 ** decade;
});
const bucketCount = boundsMs.length + 1;
const slotMs = 10_000;
const slotCount = 6;

export interface LatencyQuantiles {
  /** The number of values. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** One of the counted requests, by its trace. */
export interface Exemplar {
  readonly traceId: string;
  readonly ms: number;
  /** On the clock of the histogram. */
  readonly atMs: number;
}

/** The number of values up to each bound, the last of which is infinite. */
export interface CumulativeCounts {
  readonly sumMs: number;
  readonly counts: readonly number[];
  /** The newest between each bound and the one before it. */
  readonly exemplars: readonly (Exemplar | undefined)[];
}

/** Durations: in the last minute, and since the start. To add one costs a search among ninety bounds. */
export class LatencyHistogram {
  /** One for each ten seconds, the current one at `#slot` modulo their number. */
  readonly #slots = Array.from({ length: slotCount }, () => new Uint32Array(bucketCount));
  /** Since the start. */
  readonly #all = new Float64Array(bucketCount);
  /** By bucket, where there is one. */
  #exemplars: (Exemplar | undefined)[] | undefined;
  #slot = 0;
  #sumMs = 0;

  /** `nowMs`: on a clock that only goes forward. `traceId`: where it is known by one. */
  add(ms: number, nowMs: number, traceId?: string): void {
    this.#turn(nowMs);
    const bucket = bucketOf(ms);
    const slot = this.#slots[this.#slot % slotCount] as Uint32Array;
    slot[bucket] = (slot[bucket] as number) + 1;
    this.#all[bucket] = (this.#all[bucket] as number) + 1;
    if (ms > 0) this.#sumMs += ms;
    if (traceId === undefined) return;
    this.#exemplars ??= [];
    this.#exemplars[bucket] = { traceId, ms, atMs: nowMs };
  }

  /** Quantiles of the last minute, over all these together. Undefined without a value in it. */
  static quantiles(histograms: Iterable<LatencyHistogram>, nowMs: number): LatencyQuantiles | undefined {
    const counts = new Float64Array(bucketCount);
    for (const histogram of histograms) histogram.#addLastMinute(counts, nowMs);
    const count = counts.reduce((sum, each) => sum + each, 0);
    if (count === 0) return undefined;
    const at = (share: number): number => boundOf(bucketAt(counts, Math.ceil(share * count)));
    return { count, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) };
  }

  /** Since the start. `limitsMs` must be among the bounds. */
  cumulative(limitsMs: readonly number[]): CumulativeCounts {
    const counts: number[] = [];
    const exemplars: (Exemplar | undefined)[] = [];
    let bucket = 0;
    let count = 0;
    for (const limit of [...limitsMs, Infinity]) {
      let newest: Exemplar | undefined;
      for (; bucket < bucketCount && (boundsMs[bucket] ?? Infinity) <= limit; bucket++) {
        count += this.#all[bucket] as number;
        const exemplar = this.#exemplars?.[bucket];
        if (exemplar !== undefined && exemplar.atMs >= (newest?.atMs ?? 0)) newest = exemplar;
      }
      counts.push(count);
      exemplars.push(newest);
    }
    return { sumMs: this.#sumMs, counts, exemplars };
  }

  #addLastMinute(counts: Float64Array, nowMs: number): void {
    this.#turn(nowMs);
    for (const slot of this.#slots) {
      for (let bucket = 0; bucket < bucketCount; bucket++) {
        counts[bucket] = (counts[bucket] as number) + (slot[bucket] as number);
      }
    }
  }

  #turn(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot === this.#slot) return;
    for (let next = Math.max(this.#slot + 1, slot - slotCount + 1); next <= slot; next++) {
      this.#slots[next % slotCount]?.fill(0);
    }
    this.#slot = slot;
  }
}

/** The first bucket whose bound is not below it. NaN, and values from a clock that stood still, are in the first one. */
function bucketOf(ms: number): number {
  let low = 0;
  let high = boundsMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ms > (boundsMs[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A value beyond the last bound is reported as the last bound. */
function boundOf(bucket: number): number {
  return boundsMs[Math.min(bucket, boundsMs.length - 1)] as number;
}

function bucketAt(counts: Float64Array, rank: number): number {
  let seen = 0;
  return counts.findIndex((count) => {
    seen += count;
    return seen >= rank;
  });
}
