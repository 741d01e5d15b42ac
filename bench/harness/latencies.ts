/** The answers of one second. */
export interface LoadSecond {
  readonly requests: number;
  /** Undefined where nothing was answered. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

/** The value below which a share of the sorted values is. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** The end and the duration of each answer, in the order of their ends. Grows as needed. */
export class Latencies {
  #endsMs = new Float64Array(1 << 16);
  #tookMs = new Float64Array(1 << 16);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** `endMs`: since the load began. */
  add(endMs: number, tookMs: number): void {
    if (this.#count === this.#tookMs.length) {
      this.#endsMs = doubled(this.#endsMs);
      this.#tookMs = doubled(this.#tookMs);
    }
    this.#endsMs[this.#count] = endMs;
    this.#tookMs[this.#count++] = tookMs;
  }

  /** Shortest first. */
  sorted(): Float64Array {
    return this.#tookMs.slice(0, this.#count).sort();
  }

  /** One for each whole second. */
  seconds(): LoadSecond[] {
    const found: LoadSecond[] = [];
    const whole = Math.floor((this.#endsMs[this.#count - 1] ?? 0) / 1000);
    for (let from = 0; found.length < whole; ) {
      const endMs = (found.length + 1) * 1000;
      let to = from;
      while (to < this.#count && (this.#endsMs[to] ?? 0) < endMs) to++;
      const sorted = this.#tookMs.slice(from, to).sort();
      const at = (share: number): number | undefined => (from === to ? undefined : quantile(sorted, share));
      found.push({ requests: to - from, p50Ms: at(0.5), p99Ms: at(0.99) });
      from = to;
    }
    return found;
  }
}

function doubled(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(2 * values.length);
  longer.set(values);
  return longer;
}
