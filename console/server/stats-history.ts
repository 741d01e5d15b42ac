export interface Listener {
  readonly requests: number;
  readonly failed: number;
  readonly under_way: number;
  readonly last_minute: {
    readonly count: number;
    readonly p50_ms: number;
    readonly p90_ms: number;
    readonly p99_ms: number;
    readonly max_ms: number;
  } | null;
}

/** What GET /stats tells; `server` only to operators. */
export interface Stats {
  readonly version: string;
  readonly uptime_ms: number;
  readonly tenant: {
    readonly name: string;
    readonly frames: number;
    readonly bytes: number;
    readonly statements: number;
    readonly followers: number;
  };
  readonly server?: ServerStats;
}

export interface CacheStats {
  readonly budget_bytes: number;
  readonly used_bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface ServerStats {
  readonly node: string;
  readonly memory: { readonly rss_bytes: number; readonly heap_used_bytes: number };
  readonly workers: { readonly processes: number; readonly rss_bytes: number | null };
  readonly event_loop: { readonly p50_ms: number; readonly p99_ms: number; readonly max_ms: number } | null;
  readonly disk: { readonly free_bytes: number; readonly total_bytes: number; readonly used_bytes: number } | null;
  readonly cache: CacheStats;
  readonly disk_cache: CacheStats | null;
  readonly frames: {
    readonly frames: number;
    readonly bytes: number;
    readonly puts: number;
    readonly rows_put: number;
    readonly bytes_put: number;
  };
  readonly statements: { readonly under_way: number; readonly begun: number };
  readonly followers: number;
  readonly listeners: { readonly http: Listener; readonly grpc: Listener };
}

export interface Sample {
  /** On a clock that only goes forward. */
  readonly atMs: number;
  readonly stats: Stats;
}

/** Five minutes of one every two seconds. */
const mostSamples = 150;

/** The samples with one more. Those of before a restart are gone: counters began anew. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  const hasRestarted = last !== undefined && sample.stats.uptime_ms < last.stats.uptime_ms;
  return hasRestarted ? [sample] : [...samples.slice(1 - mostSamples), sample];
}

type Figure = (stats: Stats) => number | undefined;

/** A figure at each sample. */
export function series(samples: readonly Sample[], figure: Figure): readonly (number | undefined)[] {
  return samples.map(({ stats }) => figure(stats));
}

/** How fast a counter grew, a second, between each sample and the one before. */
export function rates(samples: readonly Sample[], counter: Figure): readonly (number | undefined)[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index];
    const [from, to] = [before && counter(before.stats), counter(sample.stats)];
    if (before === undefined || from === undefined || to === undefined) return undefined;
    const seconds = (sample.atMs - before.atMs) / 1000;
    return seconds > 0 ? Math.max(0, to - from) / seconds : undefined;
  });
}

/** The share of one counter's growth in that of two. Undefined where neither grew. */
export function shares(samples: readonly Sample[], counter: Figure, other: Figure): readonly (number | undefined)[] {
  const ofOther = rates(samples, other);
  return rates(samples, counter).map((rate, index) => {
    const sum = (rate ?? 0) + (ofOther[index] ?? 0);
    return sum > 0 ? (rate ?? 0) / sum : undefined;
  });
}
