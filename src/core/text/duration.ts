import { AppError } from '../errors/app-error.ts';

const millisecondsPerUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A hundred years: far enough for anyone, and any date plus this is still a date. */
const maxDurationMs = 36_500 * millisecondsPerUnit.d;

/** Seconds as a bare number, or `500ms`, `90s`, `15m`, `12h`, `7d`. */
export function parseDurationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|[smhd])?$/.exec(text);
  const amount = Number(match?.[1] ?? Number.NaN);
  const exactMs = amount * millisecondsPerUnit[(match?.[2] ?? 's') as keyof typeof millisecondsPerUnit];
  if (exactMs >= 0 && exactMs <= maxDurationMs) return exactMs > 0 ? Math.max(1, Math.round(exactMs)) : 0;
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  throw new AppError('invalid_parameter', `${JSON.stringify(shown)} is not a duration`, {
    hint: 'a duration is a number of seconds, or a number with a unit: 500ms, 90s, 15m, 12h, 7d; at most 36500d',
  });
}
