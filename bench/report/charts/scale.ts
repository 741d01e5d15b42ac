/** Values of an axis → pixels, and where its lines are. */
export interface Scale {
  readonly toPixel: (value: number) => number;
  readonly ticks: readonly number[];
}

export interface ScaleOptions {
  readonly kind: 'linear' | 'log';
  readonly values: readonly number[];
  /** Pixels of the smallest and of the largest value. */
  readonly from: number;
  readonly to: number;
  /** About the number of lines of a linear axis. */
  readonly lines?: number;
}

/** A linear axis begins at 0, a logarithmic one at a power of ten. */
export function scaleOf({ kind, values, from, to, lines = 5 }: ScaleOptions): Scale {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const largest = Math.max(...positive, Number.MIN_VALUE);
  if (positive.length === 0) return { toPixel: () => from, ticks: [] };
  if (kind === 'linear') {
    const step = niceStep(largest / lines);
    const count = Math.ceil(largest / step - 1e-9);
    const ticks = Array.from({ length: count + 1 }, (_, at) => clean(at * step));
    return { toPixel: (value) => from + ((to - from) * value) / (count * step), ticks };
  }
  const first = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(largest) - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => clean(10 ** (first + at)));
  return { toPixel: (value) => from + ((to - from) * (Math.log10(value) - first)) / (last - first), ticks };
}

/** 1, 2 or 5 times a power of ten, not smaller. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function clean(value: number): number {
  return Number(value.toPrecision(12));
}
