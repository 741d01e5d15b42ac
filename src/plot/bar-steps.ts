/** Widths of bars over time, in µs, that people read easily. */
export const timeSteps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms * 1000),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map((s) => s * 1e6),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728, 1820, 3640, 18_200, 36_400, 364_000, 3_640_000, 36_400_000].map(
    (days) => days * 86_400e6,
  ),
];

export function timeStep(least: number): number {
  return timeSteps.find((step) => step >= least) ?? (timeSteps.at(-1) as number);
}

/** 1, 2 or 5 times a power of ten. */
export function decimalStep(least: number): number {
  if (!(least > 1e-300)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((n) => n * power >= least) ?? 10);
}
