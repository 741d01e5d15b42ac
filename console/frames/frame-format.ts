import { formatDuration } from '../widgets/format.ts';

/** In the time zone of the browser: 2026-01-31 12:00 */
export function formatTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The time until then. */
export function formatRemaining(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso) - now;
  return ms <= 0 ? 'now' : `in ${formatDuration(ms)}`;
}
