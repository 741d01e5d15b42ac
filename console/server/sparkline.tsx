import { largestOf, type Points, sparklineHeight, sparklinePath, sparklineWidth } from './sparkline-path.ts';

interface SparklineProps {
  /** The first is drawn strong, the others weaker. */
  readonly lines: readonly Points[];
  /** At the top edge. Default: the largest value. */
  readonly most?: number | undefined;
}

/** A minute at first; then the plot grows with its values. */
const fewestSlots = 30;

/** A small plot without axes: the figure beside it names it. */
export function Sparkline({ lines, most = largestOf(lines) }: SparklineProps) {
  const slots = Math.max(fewestSlots, ...lines.map(({ length }) => length));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${sparklineWidth} ${sparklineHeight}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {lines.map((points, index) => (
        <path key={index} d={sparklinePath(points, most, slots)} />
      ))}
    </svg>
  );
}
