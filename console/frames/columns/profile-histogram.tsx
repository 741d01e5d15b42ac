import type { Answer } from '#client/api.ts';
import { formatCount } from '../../widgets/format.ts';

type Histogram = NonNullable<Answer<'GET /handles/{handle}/profile'>['histogram']>;

const width = 400;
const height = 80;

export function ProfileHistogram({ histogram, type }: { readonly histogram: Histogram; readonly type: string }) {
  const { bins } = histogram;
  const low = bins[0]?.from ?? 0;
  const high = bins.at(-1)?.to ?? 1;
  const most = Math.max(...bins.map(({ count }) => count));
  const xOf = (value: number): number => (high === low ? 0 : ((value - low) / (high - low)) * width);
  const text = (value: number): string => (/^(TIMESTAMP|DATE)/.test(type) ? timeText(value) : numberText(value));
  const label = `Histogram from ${text(low)} to ${text(high)}; the highest bin has ${formatCount(most)} rows`;
  return (
    <figure class="profile-histogram">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bins.map(({ from, to, count }) => {
          const barHeight = Math.max(1, (count / most) * height);
          return (
            <rect
              key={from}
              x={xOf(from)}
              y={height - barHeight}
              width={Math.max(1, xOf(to) - xOf(from) - 1)}
              height={barHeight}
            >
              <title>{`${text(from)} to ${text(to)}: ${formatCount(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{text(low)}</span>
        <span>{text(high)}</span>
      </figcaption>
    </figure>
  );
}

function timeText(us: number): string {
  const time = new Date(us / 1000);
  return Number.isNaN(time.getTime())
    ? String(us)
    : time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.?0*Z$/, '');
}

function numberText(value: number): string {
  return Math.abs(value) >= 1e15 ? value.toPrecision(4) : String(Number(value.toPrecision(12)));
}
