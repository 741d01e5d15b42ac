/** A bucket is a quarter of a doubling wide: a quantile is at most a fifth too high. */
const perDoubling = 4;
const firstMs = 0.01;
/** The last one has all that took longer than three hours. */
const bucketCount = 120;
const slotMs = 10_000;
const slotCount = 6;

export interface LatencyQuantiles {
  /** How many there were. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How long things took: in the last minute, and since the start. To add one costs an addition and a logarithm. */
export class LatencyHistogram {
  /** One for each ten seconds, the current one at `#slot` modulo their number. */
  readonly #slots = Array.from({ length: slotCount }, () => new Uint32Array(bucketCount));
  /** Those that are older than a minute. */
  readonly #past = new Float64Array(bucketCount);
  #slot = 0;
  #sumMs = 0;

  /** `nowMs`: on a clock that only goes forward. */
  add(ms: number, nowMs: number): void {
    this.#turn(nowMs);
    const bucket = bucketOf(ms);
    const slot = this.#slots[this.#slot % slotCount] as Uint32Array;
    slot[bucket] = (slot[bucket] as number) + 1;
    this.#sumMs += ms;
  }

  /** Of the last minute. Undefined where nothing happened in it. */
  quantiles(nowMs: number): LatencyQuantiles | undefined {
    this.#turn(nowMs);
    const counts = sumOf(this.#slots);
    const count = counts.reduce((sum, each) => sum + each, 0);
    if (count === 0) return undefined;
    const at = (share: number): number => upperMs(bucketAt(counts, Math.ceil(share * count)));
    return { count, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) };
  }

  /** Since the start: how many there were up to each bound, as Prometheus has its histograms. */
  totals(): {
    readonly sumMs: number;
    readonly buckets: readonly { readonly upToMs: number; readonly count: number }[];
  } {
    let count = 0;
    const buckets = [...sumOf([...this.#slots, this.#past])].map((each, bucket) => {
      count += each;
      return { upToMs: upperMs(bucket), count };
    });
    return { sumMs: this.#sumMs, buckets };
  }

  #turn(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot === this.#slot) return;
    for (let next = Math.max(this.#slot + 1, slot - slotCount + 1); next <= slot; next++) {
      const reused = this.#slots[next % slotCount] as Uint32Array;
      for (const [bucket, count] of reused.entries()) this.#past[bucket] = (this.#past[bucket] as number) + count;
      reused.fill(0);
    }
    this.#slot = slot;
  }
}

function bucketOf(ms: number): number {
  const bucket = Math.ceil(Math.log2(ms / firstMs) * perDoubling);
  // Not of NaN, and not of a clock that stood still.
  return bucket > 0 ? Math.min(bucket, bucketCount - 1) : 0;
}

function upperMs(bucket: number): number {
  return firstMs * 2 ** (bucket / perDoubling);
}

function bucketAt(counts: Float64Array, rank: number): number {
  let seen = 0;
  return counts.findIndex((count) => {
    seen += count;
    return seen >= rank;
  });
}

function sumOf(all: readonly (Uint32Array | Float64Array)[]): Float64Array {
  const sum = new Float64Array(bucketCount);
  for (const counts of all) {
    for (const [bucket, count] of counts.entries()) sum[bucket] = (sum[bucket] as number) + count;
  }
  return sum;
}
