import { expect, test } from 'vitest';
import { rates, type Sample, type Stats, series, shares, withSample } from './stats-history.ts';

function sample(atMs: number, frames: number, bytes = 0): Sample {
  const tenant = { name: 'default', frames, bytes, statements: 0, followers: 0 };
  return { atMs, stats: { version: '1', uptime_ms: atMs, tenant } };
}

const frames = ({ tenant }: Stats) => tenant.frames;
const bytes = ({ tenant }: Stats) => tenant.bytes;

test('a rate is the growth between two samples, by the time between them', () => {
  const samples = [sample(0, 10), sample(2000, 30), sample(2500, 30), sample(3500, 20)];
  expect(series(samples, frames)).toEqual([10, 30, 30, 20]);
  expect(rates(samples, frames)).toEqual([10, 0, 0]);
});

test('what is not told has no rate', () => {
  expect(rates([sample(0, 1), sample(1000, 2)], () => undefined)).toEqual([undefined]);
  expect(rates([sample(0, 1), sample(0, 2)], frames)).toEqual([undefined]);
  expect(rates([sample(0, 1)], frames)).toEqual([]);
});

test('a share is that of the growth of both', () => {
  const samples = [sample(0, 0, 0), sample(1000, 3, 1), sample(2000, 3, 1)];
  expect(shares(samples, frames, bytes)).toEqual([0.75, undefined]);
});

test('samples of before a restart are forgotten, and old ones too', () => {
  let samples: readonly Sample[] = [];
  for (let at = 0; at < 1000; at++) samples = withSample(samples, sample(at, at));
  expect(samples).toHaveLength(150);
  expect(samples.at(-1)?.atMs).toBe(999);
  const restarted = { ...sample(5, 0), atMs: 2000 };
  expect(withSample(samples, restarted)).toEqual([restarted]);
});
