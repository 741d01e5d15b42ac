/** Size of the drawing, which is stretched to its place. */
export const sparklineWidth = 120;
export const sparklineHeight = 32;

export type Points = readonly (number | undefined)[];

/** The lines through the points, the newest at the right; a gap where one is missing. `slots`: the number of points across. */
export function sparklinePath(points: Points, most: number, slots: number): string {
  const step = sparklineWidth / (slots - 1);
  const shown = points.slice(-slots);
  const start = sparklineWidth - (shown.length - 1) * step;
  let path = '';
  let isDown = false;
  for (const [index, value] of shown.entries()) {
    if (value === undefined) {
      isDown = false;
      continue;
    }
    const x = start + index * step;
    // A line at the very edge would be cut in half.
    const y = 1 + (sparklineHeight - 2) * (1 - (most > 0 ? Math.min(value / most, 1) : 0));
    path += `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  }
  return path;
}

/** The largest known value. */
export function largestOf(lines: readonly Points[]): number {
  return lines.flat().reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}
