import type { Answer } from '#client/api.ts';

/** `server` only to operators. */
export type Stats = Answer<'GET /stats'>;
export type ServerStats = NonNullable<Stats['server']>;
export type CacheStats = ServerStats['cache'];
export type Listener = ServerStats['listeners']['http'];

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

/** The growth of a counter a second, between each sample and the one before. */
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
